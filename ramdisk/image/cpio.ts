/** One entry of an initramfs archive; folders before what is in them. */
export interface CpioEntry {
  /** Without a leading slash. */
  path: string;
  kind: 'file' | 'directory' | 'link';
  /** Permission bits, e.g. 0o755. */
  mode: number;
  /** Content of a file, target of a link; empty for a folder. */
  data: Buffer;
}

const typeBits = { file: 0o100000, directory: 0o040000, link: 0o120000 } as const;

/**
 * A `newc` cpio archive (Linux Documentation/driver-api/early-userspace/buffer-format.rst). Owner root, time 0, numbers in
 * order: the same entries give the same bytes. Its length is a multiple of 512, so that another archive may follow it.
 */
export function cpioArchive(entries: readonly CpioEntry[]): Buffer {
  const parts = entries.flatMap((entry, index) => member(entry.path, index + 1, modeOf(entry), entry.data));
  parts.push(...member('TRAILER!!!', 0, 0, Buffer.alloc(0)));
  const bytes = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([...parts, padding(bytes, 512)]);
}

function modeOf({ kind, mode }: CpioEntry): number {
  return typeBits[kind] | mode;
}

function member(path: string, inode: number, mode: number, data: Buffer): Buffer[] {
  const name = Buffer.from(`${path}\0`);
  const links = inode === 0 ? 1 : 1 + Number((mode & typeBits.directory) === typeBits.directory);
  const fields = [inode, mode, 0, 0, links, 0, data.length, 0, 0, 0, 0, name.length, 0];
  const header = Buffer.from(`070701${fields.map(hex8).join('')}`, 'latin1');
  return [header, name, padding(header.length + name.length, 4), data, padding(data.length, 4)];
}

function hex8(value: number): string {
  return value.toString(16).padStart(8, '0').toUpperCase();
}

function padding(bytes: number, alignment: number): Buffer {
  return Buffer.alloc((alignment - (bytes % alignment)) % alignment);
}
