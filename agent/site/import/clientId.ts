/** A client identifier in hex: from bytes written as `ff:00:01`, or from a text, whose bytes are meant. Undefined when it is empty. */
export function clientIdHex(text: string): string | undefined {
  if (/^[0-9a-f]{1,2}(:[0-9a-f]{1,2})+$/i.test(text))
    return text
      .split(':')
      .map((byte) => byte.padStart(2, '0').toLowerCase())
      .join('');
  return text === '' ? undefined : Buffer.from(text).toString('hex');
}
