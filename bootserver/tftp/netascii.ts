const [lf, cr, nul] = [0x0a, 0x0d, 0];

/** What was translated is kept as long as the file itself, so that many readers cost one translation. */
const translated = new WeakMap<Buffer, Buffer>();

/** A text as netascii (RFC 764, RFC 1350 §1): every line ends with CR LF, and a CR by itself is CR NUL. */
export function netascii(content: Buffer): Buffer {
  const known = translated.get(content);
  if (known !== undefined) return known;
  const result = translate(content);
  translated.set(content, result);
  return result;
}

function translate(content: Buffer): Buffer {
  const result = Buffer.allocUnsafe(content.length + countOf(content));
  let at = 0;
  for (const byte of content) {
    if (byte === lf) result[at++] = cr;
    result[at++] = byte;
    if (byte === cr) result[at++] = nul;
  }
  return result;
}

function countOf(content: Buffer): number {
  let count = 0;
  for (const byte of content) if (byte === lf || byte === cr) count += 1;
  return count;
}
