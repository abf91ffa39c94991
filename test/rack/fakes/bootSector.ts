const address = 0x7c00;

/** x86 real-mode code: says `text` on the serial port, then powers the machine off at a `p` and resets it at an `r`. */
export function bootSector(text: string): Buffer {
  const code = [
    ...[0xfa, 0xfc, 0x31, 0xc0, 0x8e, 0xd8], // cli; cld; xor ax, ax; mov ds, ax
    ...[0xbe, 0x00, 0x00], // mov si, text
    ...[0xba, 0xf8, 0x03], // mov dx, COM1
    ...[0xac, 0x84, 0xc0, 0x74, 0x03, 0xee, 0xeb, 0xf8], // next: lodsb; test al, al; jz wait; out dx, al; jmp next
    ...[0xba, 0xfd, 0x03, 0xec, 0xa8, 0x01, 0x74, 0xf8], // wait: mov dx, COM1 + 5; in al, dx; test al, 1; jz wait
    ...[0xba, 0xf8, 0x03, 0xec], // mov dx, COM1; in al, dx
    ...[0x3c, 0x70, 0x74, 0x0c], // cmp al, 'p'; je off
    ...[0x3c, 0x72, 0x75, 0xec], // cmp al, 'r'; jne wait
    ...[0xba, 0xf9, 0x0c, 0xb0, 0x06, 0xee, 0xeb, 0xfe], // mov dx, the reset register; mov al, 6; out dx, al; jmp here
    ...[0xba, 0x04, 0x06, 0xb8, 0x00, 0x20, 0xef], // off: mov dx, ACPI's PM1a control; mov ax, sleep; out dx, ax
    ...[0xf4, 0xeb, 0xfd], // hlt; jmp hlt
  ];
  const sector = Buffer.alloc(512);
  Buffer.from(code).copy(sector);
  sector.writeUInt16LE(address + code.length, 7);
  sector.write(`${text}\r\n\0`, code.length, 'latin1');
  sector.writeUInt16LE(0xaa55, 510);
  return sector;
}
