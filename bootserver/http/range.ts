/** A part of `size` bytes, from `start` up to, not including, `endExclusive`. */
export interface ByteRange {
  start: number;
  endExclusive: number;
}

/** Nobody who fetches an image needs more at a time; each costs a header and a seek. */
const mostRanges = 16;

/**
 * The ranges that a Range header asks for, in its order (RFC 9110 §14.1.2). `whole`: the header is absent, or says nothing that we know, or asks for so many
 * ranges, or for more bytes than there are, that it may be ignored (§14.2); `unsatisfiable`: all of them lie past the end.
 */
export function parseRanges(
  header: string | undefined,
  size: number,
): ByteRange[] | 'whole' | 'unsatisfiable' {
  const list = /^bytes=([\d\-, \t]*)$/.exec(header?.trim() ?? '')?.[1]?.split(',');
  if (list === undefined || list.length > mostRanges) return 'whole';
  const ranges = list.map((text) => parseOne(text.trim(), size));
  if (ranges.includes('whole')) return 'whole';
  const satisfiable = ranges.filter((range): range is ByteRange => typeof range !== 'string');
  if (satisfiable.length === 0) return 'unsatisfiable';
  const bytes = satisfiable.reduce((sum, { start, endExclusive }) => sum + endExclusive - start, 0);
  return bytes > size ? 'whole' : satisfiable;
}

function parseOne(text: string, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const match = /^(\d*)-(\d*)$/.exec(text);
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
