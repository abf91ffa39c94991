import type { Toolbox } from '#base/debian/toolbox.ts';

/** Large blocks pack a tenth better; small ones pack faster, and a start reads less that it does not need. */
const settings = {
  development: { level: 3, blockBytes: 131_072 },
  release: { level: 19, blockBytes: 1_048_576 },
} as const;

/** Packs a folder. All times are 0 and root owns everything: the same files give the same bytes. */
export async function makeSquashfs(
  folder: string,
  file: string,
  release: boolean,
  toolbox: Toolbox,
): Promise<void> {
  const { level, blockBytes } = settings[release ? 'release' : 'development'];
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
