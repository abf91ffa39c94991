import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { RailheadError } from '#contract/errors.ts';

/** A file that anyone may download by its digest. It stays the one that was hashed, even when its name is given to another. */
export interface PublishedFile {
  digest: string;
  sizeBytes: number;
  handle: FileHandle;
  close(): Promise<void>;
}

export async function publishFile(file: string): Promise<PublishedFile> {
  const handle = await open(file, 'r');
  const hash = createHash('sha256');
  for await (const chunk of handle.createReadStream({ autoClose: false, start: 0 }))
    hash.update(chunk as Buffer);
  const { size } = await handle.stat();
  return { digest: hash.digest('hex'), sizeBytes: size, handle, close: () => handle.close() };
}

/** `GET /bcd/<sha256>`: needs no token, since whoever asks knows the digest and checks it. */
export function publishRoute(server: FastifyInstance, { digest, sizeBytes, handle }: PublishedFile): void {
  server.get<{ Params: { digest: string } }>('/bcd/:digest', { schema: { hide: true } }, (request, reply) => {
    if (request.params.digest !== digest)
      throw new RailheadError('NOT_FOUND', 'no executable of that digest is published', {
        digest: request.params.digest,
      });
    return reply
      .type('application/octet-stream')
      .header('content-length', sizeBytes)
      .header('etag', `"${digest}"`)
      .send(handle.createReadStream({ autoClose: false, start: 0, end: sizeBytes - 1 }));
  });
}
