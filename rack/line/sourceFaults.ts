import type { ServerResponse } from 'node:http';
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

/** Passes `limit` bytes on and then cuts the connection, as a source does that dies. */
export function truncateAt(limit: number, response: ServerResponse): Transform {
  let left = Math.floor(limit);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const passed = chunk.subarray(0, left);
      left -= passed.length;
      if (left > 0) return done(null, passed);
      this.push(passed);
      setImmediate(() => response.socket?.destroySoon());
    },
  });
}
