import type { TreeEntry } from './tree.ts';

const typeBits = { directory: 0o040000, file: 0o100000, symlink: 0o120000 } as const;

/**
 * An initramfs archive ("newc" format, Linux Documentation/driver-api/early-userspace/buffer-format.rst): owner root, all
 * times 0, so that the same tree gives the same bytes. Entries must come parents first.
 */
export function cpioArchive(tree: readonly TreeEntry[]): Buffer {
  const members = tree.map((entry, index) =>
    member(entry.path, index + 1, modeOf(entry), contentOf(entry), entry.kind === 'directory' ? 2 : 1),
  );
  return Buffer.concat([...members, member('TRAILER!!!', 0, 0, Buffer.alloc(0), 1)]);
}

function member(name: string, inode: number, mode: number, content: Buffer, links: number): Buffer {
  const nameSize = Buffer.byteLength(name) + 1;
  const fields = [inode, mode, 0, 0, links, 0, content.length, 0, 0, 0, 0, nameSize, 0];
  const header = `070701${fields.map((field) => field.toString(16).padStart(8, '0')).join('')}${name}\0`;
  return Buffer.concat([padded(Buffer.from(header)), padded(content)]);
}

function modeOf(entry: TreeEntry): number {
  return typeBits[entry.kind] | (entry.kind === 'symlink' ? 0o777 : entry.mode);
}

function contentOf(entry: TreeEntry): Buffer {
  if (entry.kind === 'file') return entry.content;
  return Buffer.from(entry.kind === 'symlink' ? entry.target : '');
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
}
