const longestLabel = 63;

/** Names in the form of DNS, without compression (RFC 1035 §3.1, RFC 3397 §2). */
export function encodeNames(names: readonly string[]): Buffer {
  return Buffer.concat(
    names.flatMap((name) => [
      ...name.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label, 'latin1')]),
      Buffer.from([0]),
    ]),
  );
}

/** The names; undefined when a label runs past the end, or one is a pointer: those of others are not read. */
export function decodeNames(bytes: Buffer): string[] | undefined {
  const names: string[] = [];
  let labels: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes[at] ?? 0;
    if (length > longestLabel || at + 1 + length > bytes.length) return undefined;
    if (length > 0) labels.push(bytes.toString('latin1', at + 1, at + 1 + length));
    else {
      names.push(labels.join('.'));
      labels = [];
    }
    at += 1 + length;
  }
  return labels.length === 0 ? names : undefined;
}
