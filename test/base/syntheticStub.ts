export interface StubOptions {
  sections?: readonly { name: string; data: Buffer }[];
  /** Where the first section's content starts; less leaves less room in the section table. */
  headerBytes?: number;
  imageBase?: bigint;
  certificateTable?: number;
}

const fileAlignment = 512;
const sectionAlignment = 4096;

/** A PE32+ file with the headers that systemd's stub has and made-up content, for tests that need no real one. */
export function syntheticStub(options: StubOptions = {}): Buffer {
  const { sections = [{ name: '.text', data: Buffer.from('code') }], headerBytes = 1024 } = options;
  const image = Buffer.alloc(headerBytes + sections.length * fileAlignment);
  image.write('MZ', 0);
  image.writeUInt32LE(64, 60);
  image.write('PE\0\0', 64, 'latin1');
  image.writeUInt16LE(sections.length, 64 + 6);
  image.writeUInt16LE(240, 64 + 20);
  writeOptionalHeader(image, 88, { ...options, headerBytes });
  for (const [index, section] of sections.entries()) {
    const row = 88 + 240 + index * 40;
    const content = headerBytes + index * fileAlignment;
    image.write(section.name, row, 8, 'latin1');
    image.writeUInt32LE(section.data.length, row + 8);
    image.writeUInt32LE((index + 1) * sectionAlignment, row + 12);
    image.writeUInt32LE(fileAlignment, row + 16);
    image.writeUInt32LE(content, row + 20);
    section.data.copy(image, content);
  }
  return image;
}

function writeOptionalHeader(
  image: Buffer,
  at: number,
  options: StubOptions & { headerBytes: number },
): void {
  image.writeUInt16LE(0x20b, at);
  image.writeUInt32LE(fileAlignment, at + 8);
  image.writeBigUInt64LE(options.imageBase ?? 0x1_4df9_0000n, at + 24);
  image.writeUInt32LE(sectionAlignment, at + 32);
  image.writeUInt32LE(fileAlignment, at + 36);
  image.writeUInt32LE(options.headerBytes, at + 60);
  image.writeUInt32LE(0xdead, at + 64);
  image.writeUInt32LE(16, at + 108);
  image.writeUInt32LE(options.certificateTable ?? 0, at + 112 + 4 * 8);
}
