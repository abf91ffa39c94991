import type { Toolbox } from '#base/debian/toolbox.ts';

export interface SquashfsOptions {
  /** zstd's, 1 to 22. */
  level: number;
  blockBytes: number;
}

/** Packs a folder. All times are 0 and root owns everything: the same files give the same bytes. */
export async function makeSquashfs(
  folder: string,
  file: string,
  { level, blockBytes }: SquashfsOptions,
  toolbox: Toolbox,
): Promise<void> {
  const fixed = [
    '-noappend',
    '-no-progress',
    '-quiet',
    '-no-xattrs',
    '-all-root',
    '-mkfs-time',
    '0',
    '-all-time',
    '0',
  ];
  const compression = ['-comp', 'zstd', '-Xcompression-level', String(level), '-b', String(blockBytes)];
  // mksquashfs refuses its own time options beside SOURCE_DATE_EPOCH.
  const env = { ...process.env, SOURCE_DATE_EPOCH: undefined };
  await toolbox.run('usr/bin/mksquashfs', [folder, file, ...fixed, ...compression], { env });
}
