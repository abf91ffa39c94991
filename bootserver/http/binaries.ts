import { type Answer, bytesAnswer } from './answer.ts';
import type { BootRequest } from './request.ts';

export const binaryPattern = /^\/(?:ipxe|shim)\/([A-Za-z0-9._-]+)$/;

/** `/ipxe/<file>`, `/shim/<file>`: the boot loaders, for firmware that boots by HTTP. shim looks for GRUB beside itself. */
export function binary({ path }: BootRequest, files: ReadonlyMap<string, Buffer>): Answer | undefined {
  const content = files.get(binaryPattern.exec(path)?.[1] ?? '');
  return content && bytesAnswer(content, 'application/octet-stream');
}
