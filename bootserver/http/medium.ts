import { type Answer, notFound } from './answer.ts';
import type { ImageReader } from './imageReader.ts';
import { privateImage } from './images.ts';
import type { BootRequest } from './request.ts';

export const mediumPattern = /^\/media\/([0-9a-f]{32})\.iso$/;

/** Where one BMC reads its medium. iDRACs take a CD only by a URL with this ending (dell/terraform-provider-redfish, pull request 84). */
export function mediumPath(token: string): string {
  return `/media/${token}.iso`;
}

/** The image whose URL a BMC was given: nobody else knows the token. */
export async function medium(request: BootRequest, images: ImageReader): Promise<Answer> {
  const token = mediumPattern.exec(request.path)?.[1] ?? '';
  const digest = images.granted?.(token);
  return digest === undefined ? notFound(request.path) : privateImage(request, digest, images);
}
