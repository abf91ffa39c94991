import { type Answer, bytesAnswer } from './answer.ts';
import type { BootRequest } from './request.ts';

/** `/ipxe/<file>`: the iPXE binaries, for firmware that boots by HTTP. */
export function binaryRoute(request: BootRequest, files: ReadonlyMap<string, Buffer>): Answer | undefined {
  const name = /^\/ipxe\/([A-Za-z0-9._-]+)$/.exec(request.path)?.[1];
  const content = name === undefined ? undefined : files.get(name);
  return content && bytesAnswer(content, 'application/octet-stream');
}
