import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import path from 'node:path';
import { getRawAsset } from 'node:sea';

/**
 * Loads a native module from inside the executable. The loader wants a file: it gets one in a directory of our own that
 * nobody else can write to, which is gone once it is mapped.
 * @throws the loader's error when no directory allows it
 */
export function loadNative(name: string): unknown {
  const bytes = Buffer.from(getRawAsset(`${name}.node`));
  const failures: unknown[] = [];
  // A hardened host mounts /tmp noexec; /run and /dev/shm are what else a daemon may find writable.
  for (const directory of [tmpdir(), '/run', '/dev/shm']) {
    try {
      return loadFrom(directory, name, bytes);
    } catch (error) {
      failures.push(error);
    }
  }
  throw failures[0];
}

function loadFrom(parent: string, name: string, bytes: Buffer): unknown {
  const directory = mkdtempSync(path.join(parent, 'bcd-'));
  try {
    const file = path.join(directory, `${name}.node`);
    writeFileSync(file, bytes, { mode: 0o500 });
    const loaded: { exports: unknown } = { exports: {} };
    process.dlopen(loaded, file, constants.dlopen.RTLD_NOW);
    return loaded.exports;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
