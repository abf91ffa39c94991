import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from '#base/command.ts';
import type { TreeEntry } from './tree.ts';

export interface Ext4Options {
  file: string;
  sizeBytes: number;
  uuid: string;
  label: string;
  tree: readonly TreeEntry[];
  /** A folder for intermediate files; removed. */
  scratch: string;
}

/** Named one by one: the defaults of mke2fs.conf differ between Debian releases, and the image must not. */
const features = [
  'none,has_journal,ext_attr,resize_inode,dir_index,filetype,extent,64bit,flex_bg,sparse_super',
  'large_file,huge_file,dir_nlink,extra_isize,metadata_csum',
].join(',');

/** What e2fsprogs takes for now: a fixed time makes its output a function of its input. */
const environment = { ...process.env, E2FSPROGS_FAKE_TIME: '1767225600', LC_ALL: 'C' };

/**
 * An ext4 file system with the given tree, owned by root, without a mount or a loop device. It is filled by debugfs in
 * the tree's order; `mke2fs -d` would bring the host's directory order and change times into it.
 */
export async function makeExt4(options: Ext4Options): Promise<void> {
  const { file, sizeBytes, uuid, label } = options;
  const extended = `hash_seed=${uuid},lazy_itable_init=0,lazy_journal_init=0,root_owner=0:0`;
  const settings = ['-U', uuid, '-L', label, '-O', features, '-E', extended, '-m', '1', '-J', 'size=4'];
  const shape = ['-b', '4096', '-I', '256'];
  const mke2fs = ['-q', '-F', '-t', 'ext4', ...shape, ...settings, file, `${sizeBytes / 1024}k`];
  await run('mke2fs', mke2fs, { env: environment });
  await fill(options);
}

async function fill({ file, tree, scratch }: Ext4Options): Promise<void> {
  await mkdir(scratch, { recursive: true });
  const commands: string[] = [];
  for (const [index, entry] of tree.entries()) {
    const source = path.join(scratch, String(index));
    if (entry.kind === 'file') await writeFile(source, entry.content);
    commands.push(...debugfsCommands(entry, source));
  }
  const script = path.join(scratch, 'commands');
  await writeFile(script, `${commands.join('\n')}\n`);
  await run('debugfs', ['-w', '-f', script, file], { env: environment });
  await rm(scratch, { recursive: true });
}

function debugfsCommands(entry: TreeEntry, source: string): string[] {
  if (entry.kind === 'symlink') return [`symlink /${entry.path} ${entry.target}`];
  const create = entry.kind === 'directory' ? `mkdir /${entry.path}` : `write ${source} /${entry.path}`;
  const type = entry.kind === 'directory' ? 0o040000 : 0o100000;
  const owner = ['uid', 'gid'].map((field) => `set_inode_field /${entry.path} ${field} 0`);
  return [create, `set_inode_field /${entry.path} mode 0${(type | entry.mode).toString(8)}`, ...owner];
}
