/** `raw` and the bytes of a command: network function, command, data. */
export function rawCommand(bytes: readonly number[]): string[] {
  return ['raw', ...bytes.map((byte) => `0x${byte.toString(16).padStart(2, '0')}`)];
}

/** The hexadecimal bytes that `raw` prints; anything else among them is passed over. */
export function parseBytes(text: string): Buffer {
  const lines = text.split('\n').filter((line) => /^(\s*[0-9a-f]{2})+\s*$/i.test(line));
  return Buffer.from((lines.join(' ').match(/[0-9a-f]{2}/gi) ?? []).map((byte) => Number.parseInt(byte, 16)));
}
