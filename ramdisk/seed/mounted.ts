import { mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from '#base/command.ts';

/** Mounts a file system for the time of `use`; what was written is on the disk when it resolves. */
export async function withMounted<Value>(
  device: string,
  fileSystem: string,
  use: (directory: string) => Promise<Value>,
  options: readonly string[] = [],
): Promise<Value> {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-mount-'));
  try {
    await run('mount', ['-t', fileSystem, ...options, device, directory]);
    try {
      return await use(directory);
    } finally {
      await run('umount', [directory]);
    }
  } finally {
    await rmdir(directory);
  }
}
