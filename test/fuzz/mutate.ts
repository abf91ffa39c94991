import type { Random } from './random.ts';

type Mutation = (input: Buffer, random: Random, corpus: readonly Buffer[]) => Buffer;

/** Lengths and counts at the edges of their types. */
const edges = [
  0, 1, 2, 7, 8, 16, 127, 128, 254, 255, 256, 1024, 32_767, 32_768, 65_535, 65_536, 0x7fffffff, 0xffffffff,
];
const edgeTexts = [
  '',
  '-1',
  '0',
  '00',
  '65536',
  '4294967296',
  '9007199254740993',
  '1e999',
  'null',
  '[]',
  '{}',
  '""',
  '../',
  '%00',
  '\0',
  '\r\n',
];

const mutations: readonly Mutation[] = [
  flipBit,
  setByte,
  setByte,
  setNumber,
  insertBytes,
  insertText,
  removeSpan,
  repeatSpan,
  overwriteFromOther,
  spliceOther,
  truncate,
  replaceDigits,
];

/** How often an input is made as long as allowed: what takes quadratic time shows only there. */
const stretchedOneIn = 400;
const madeUpOneIn = 24;

/** The next input: some random bytes, mostly one of the corpus changed a few times. At most `longest` bytes. */
export function nextInput(random: Random, corpus: readonly Buffer[], longest: number): Buffer {
  if (random.below(madeUpOneIn) === 0) return random.bytes(random.below(Math.min(longest, 600) + 1));
  let input = random.pick(corpus);
  const changes = 1 + random.below(random.below(8) === 0 ? 24 : 4);
  for (let change = 0; change < changes; change++) input = random.pick(mutations)(input, random, corpus);
  if (random.below(stretchedOneIn) === 0) input = stretch(input, random, longest);
  return input.length > longest ? input.subarray(0, longest) : input;
}

function flipBit(input: Buffer, random: Random): Buffer {
  return edited(input, (bytes) => {
    const at = random.below(bytes.length);
    bytes[at] = bytes[at]! ^ (1 << random.below(8));
  });
}

function setByte(input: Buffer, random: Random): Buffer {
  const value = random.below(2) === 0 ? random.below(256) : random.pick(edges) & 255;
  return edited(input, (bytes) => bytes.writeUInt8(value, random.below(bytes.length)));
}

/** A 16 or 32-bit number of either byte order. */
function setNumber(input: Buffer, random: Random): Buffer {
  const size = random.pick([2, 4]);
  if (input.length < size) return input;
  const value = random.pick(edges) & (size === 2 ? 0xffff : 0xffffffff);
  const at = random.below(input.length - size + 1);
  return edited(input, (bytes) => {
    if (random.below(2) === 0) bytes.writeUIntBE(value >>> 0, at, size);
    else bytes.writeUIntLE(value >>> 0, at, size);
  });
}

function insertBytes(input: Buffer, random: Random): Buffer {
  return inserted(input, random.bytes(1 + random.below(8)), random);
}

function insertText(input: Buffer, random: Random): Buffer {
  return inserted(input, Buffer.from(random.pick(edgeTexts)), random);
}

function removeSpan(input: Buffer, random: Random): Buffer {
  const { start, end } = span(input, random);
  return Buffer.concat([input.subarray(0, start), input.subarray(end)]);
}

function repeatSpan(input: Buffer, random: Random): Buffer {
  const { start, end } = span(input, random);
  const again = Array.from({ length: 1 + random.below(4) }, () => input.subarray(start, end));
  return Buffer.concat([input.subarray(0, end), ...again, input.subarray(end)]);
}

function overwriteFromOther(input: Buffer, random: Random, corpus: readonly Buffer[]): Buffer {
  const other = random.pick(corpus);
  const { start, end } = span(other, random);
  return edited(input, (bytes) => other.copy(bytes, random.below(bytes.length), start, end));
}

function spliceOther(input: Buffer, random: Random, corpus: readonly Buffer[]): Buffer {
  const other = random.pick(corpus);
  return Buffer.concat([
    input.subarray(0, random.below(input.length + 1)),
    other.subarray(random.below(other.length + 1)),
  ]);
}

function truncate(input: Buffer, random: Random): Buffer {
  return input.subarray(0, random.below(input.length + 1));
}

/** Another number where digits stand in a text. */
function replaceDigits(input: Buffer, random: Random): Buffer {
  const text = input.toString('latin1');
  const numbers = [...text.matchAll(/\d+/g)];
  if (numbers.length === 0) return input;
  const { 0: found, index } = random.pick(numbers);
  const other = random.below(3) === 0 ? random.pick(edgeTexts) : String(random.pick(edges));
  return Buffer.from(text.slice(0, index) + other + text.slice(index + found.length), 'latin1');
}

function stretch(input: Buffer, random: Random, longest: number): Buffer {
  const { start, end } = span(input, random);
  const part = input.subarray(start, Math.min(end, start + 1 + random.below(8)));
  const room = longest - input.length;
  if (part.length === 0 || room <= 0) return input;
  const filler = Buffer.alloc(room, part);
  return Buffer.concat([input.subarray(0, end), filler, input.subarray(end)]);
}

function span(input: Buffer, random: Random): { start: number; end: number } {
  const start = random.below(input.length + 1);
  const most = Math.min(input.length - start, random.below(4) === 0 ? input.length : 16);
  return { start, end: start + random.below(most + 1) };
}

function inserted(input: Buffer, bytes: Buffer, random: Random): Buffer {
  const at = random.below(input.length + 1);
  return Buffer.concat([input.subarray(0, at), bytes, input.subarray(at)]);
}

function edited(input: Buffer, edit: (copy: Buffer) => void): Buffer {
  if (input.length === 0) return input;
  const copy = Buffer.from(input);
  edit(copy);
  return copy;
}
