/** A minimal 64-bit ELF file with one section of the given name: as much of a kernel module as is read here. */
export function elfWithSection(name: string, content: Buffer): Buffer {
  const names = Buffer.from(`\0${name}\0.shstrtab\0`);
  const header = Buffer.alloc(64);
  header.write('\x7fELF\x02\x01\x01', 'latin1');
  const table = header.length + content.length + names.length;
  header.writeBigUInt64LE(BigInt(table), 40);
  header.writeUInt16LE(64, 58);
  header.writeUInt16LE(3, 60);
  header.writeUInt16LE(2, 62);
  const rows = [
    Buffer.alloc(64),
    row(1, 64, content.length),
    row(name.length + 2, 64 + content.length, names.length),
  ];
  return Buffer.concat([header, content, names, ...rows]);
}

function row(name: number, offset: number, size: number): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.writeUInt32LE(name, 0);
  bytes.writeBigUInt64LE(BigInt(offset), 24);
  bytes.writeBigUInt64LE(BigInt(size), 32);
  return bytes;
}
