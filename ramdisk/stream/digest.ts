import { createHash } from 'node:crypto';
import { RailheadError } from '#contract/errors.ts';
import { heapTidier } from './tidyHeap.ts';

/** The sha256 of bytes that pass by. */
export interface Digester {
  pass(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer>;
  /** Lower-case hex; to be asked once, after the last byte. */
  hex(): string;
}

export function digester(): Digester {
  const hash = createHash('sha256');
  return {
    async *pass(bytes) {
      const tidy = heapTidier();
      for await (const part of bytes) {
        hash.update(part);
        tidy(part.length);
        yield part;
      }
    },
    hex: () => hash.digest('hex'),
  };
}

/** @throws RailheadError DRIVER_ERROR (`reason` digest-mismatch) that names both digests */
export function checkDigest(expected: string, found: string, artifactBytes: number): void {
  if (expected === found) return;
  throw new RailheadError(
    'DRIVER_ERROR',
    `the image has sha256 ${found}, the catalog says ${expected}: the disk was left unbootable`,
    { reason: 'digest-mismatch', expected, found, artifactBytes },
  );
}
