import { Transform } from 'node:stream';

/** As many bytes as asked, with one bit of each chunk's first byte turned: only a digest notices. */
export function otherBytes(): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const changed = Buffer.from(chunk);
      changed[0] = (changed[0] ?? 0) ^ 0x01;
      done(null, changed);
    },
  });
}
