import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { RailheadError } from '#contract/errors.ts';
import { anyone, type Route, route } from '#doors/routes.ts';

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
export function publishedRoute({ digest, sizeBytes, handle }: PublishedFile): Route {
  return route({
    method: 'GET',
    path: '/bcd/:digest',
    admit: anyone,
    schema: { hide: true },
    answer: ({ params }, _caller, reply) => {
      const asked = (params as { digest: string }).digest;
      if (asked !== digest)
        throw new RailheadError('NOT_FOUND', 'no executable of that digest is published', { digest: asked });
      return reply
        .type('application/octet-stream')
        .header('content-length', sizeBytes)
        .header('etag', `"${digest}"`)
        .send(streamOf(handle, sizeBytes));
    },
  });
}

/** By its number: a stream of the handle itself leaves a listener at it for good. */
function streamOf({ fd }: FileHandle, sizeBytes: number) {
  return createReadStream('', { fd, autoClose: false, start: 0, end: sizeBytes - 1 });
}
