import { type Answer, notFound } from './answer.ts';
import type { ImageReader } from './imageReader.ts';
import { image } from './images.ts';
import type { BootRequest } from './request.ts';

export const wholeImagePattern = /^\/images\/sha256\/([0-9a-f]{64})\/ramdisk\.efi$/;

/** Where firmware fetches a unified kernel image whole. With the longest address and port it fits the 127 bytes of a boot file. */
export function wholeImagePath(digest: string): string {
  return `/images/sha256/${digest}/ramdisk.efi`;
}

/**
 * The same bytes as `/images/sha256/<digest>`, as an EFI program: firmware runs what it fetched only by that type or by the name's ending
 * (UEFI 2.10 §24.7.3.2).
 */
export async function wholeImage(request: BootRequest, images: ImageReader): Promise<Answer | undefined> {
  const digest = wholeImagePattern.exec(request.path)?.[1];
  if (digest === undefined) return notFound(request.path);
  const answer = await image({ ...request, path: `/images/sha256/${digest}` }, images);
  if (answer === undefined || answer.status >= 300) return answer;
  return { ...answer, headers: { ...answer.headers, 'content-type': 'application/efi' } };
}
