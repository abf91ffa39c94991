/** A part of `size` bytes, from `start` up to, not including, `endExclusive`. */
export interface ByteRange {
  start: number;
  endExclusive: number;
}

/**
 * The one range that a Range header asks for (RFC 9110 §14.1.2). `whole`: the header is absent, asks for several ranges
 * or says nothing that we know, and may be ignored; `unsatisfiable`: it lies past the end.
 */
export function parseRange(header: string | undefined, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '');
  if (match === null) return 'whole';
  const [, first = '', last = ''] = match;
  if (first === '') return suffix(last, size);
  const start = Number(first);
  const end = last === '' ? size - 1 : Number(last);
  if (last !== '' && end < start) return 'whole';
  return start >= size ? 'unsatisfiable' : { start, endExclusive: Math.min(end, size - 1) + 1 };
}

/** The last `length` bytes. */
function suffix(length: string, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  if (length === '') return 'whole';
  if (Number(length) === 0 || size === 0) return 'unsatisfiable';
  return { start: Math.max(0, size - Number(length)), endExclusive: size };
}
