import { isIPv4 } from 'node:net';
import type { OptionValue } from './model.ts';
import type { OptionKind } from './optionTable.ts';

/**
 * The value of an option from its words as a configuration file has them; undefined when they are no value of that kind. An option whose
 * kind nobody knows is addresses if all words are, else text.
 */
export function optionValue(kind: OptionKind | undefined, words: readonly string[]): OptionValue | undefined {
  if (words.length === 0) return undefined;
  return kind === undefined ? guessed(words) : readers[kind](words);
}

const readers: Record<OptionKind, (words: readonly string[]) => OptionValue | undefined> = {
  addresses: (words) =>
    words.every((word) => isIPv4(word)) ? { kind: 'addresses', addresses: [...words] } : undefined,
  text: (words) => ({ kind: 'text', text: words.join(',') }),
  names: (words) => ({ kind: 'names', names: words.map((word) => word.replace(/\.$/, '')) }),
  routes: pairedRoutes,
  octetRoutes,
  hex: ([word = '']) => {
    const hex = word.replaceAll(':', '').toLowerCase();
    return /^([0-9a-f]{2})+$/.test(hex) ? { kind: 'bytes', hex } : undefined;
  },
  uint8: (words) => numbers(words, 1),
  uint16: (words) => numbers(words, 2),
  uint32: (words) => numbers(words, 4),
  flag: ([word]) => ({ kind: 'bytes', hex: ['1', 'true', 'on', 'yes'].includes(word ?? '') ? '01' : '00' }),
};

function guessed(words: readonly string[]): OptionValue | undefined {
  const hex = words.length === 1 && /^([0-9a-f]{2}:)+[0-9a-f]{2}$/i.test(words[0] ?? '');
  return readers.addresses(words) ?? (hex ? readers.hex(words) : readers.text(words));
}

/** The bytes that an option has on the wire, in hex: for options that the site knows by number alone. */
export function wireHex(value: OptionValue): string {
  if (value.kind === 'bytes') return value.hex;
  if (value.kind === 'addresses') return value.addresses.map(addressHex).join('');
  if (value.kind === 'text') return Buffer.from(value.text).toString('hex');
  throw new RangeError(`option values of kind ${value.kind} have a field of their own`);
}

function addressHex(address: string): string {
  return Buffer.from(address.split('.').map(Number)).toString('hex');
}

function numbers(words: readonly string[], bytes: number): OptionValue | undefined {
  const parsed = words.map(Number);
  const fit = parsed.every(
    (number) => Number.isInteger(number) && number < 256 ** bytes && number >= -(256 ** bytes) / 2,
  );
  if (!fit) return undefined;
  const hex = parsed.map((number) =>
    ((number + 256 ** bytes) % 256 ** bytes).toString(16).padStart(bytes * 2, '0'),
  );
  return { kind: 'bytes', hex: hex.join('') };
}

/** dnsmasq and Kea: `10.0.0.0/8,10.1.1.1,…`, Kea also `10.0.0.0/8 - 10.1.1.1`. */
function pairedRoutes(words: readonly string[]): OptionValue | undefined {
  const flat = words.flatMap((word) => word.split(/\s+-\s+/));
  const routes: { destination: string; router: string }[] = [];
  for (let at = 0; at < flat.length; at += 2) {
    const [destination = '', router = ''] = flat.slice(at, at + 2).map((word) => word.trim());
    if (!isPrefix(destination) || !isIPv4(router)) return undefined;
    routes.push({ destination, router });
  }
  return { kind: 'routes', routes };
}

/** ISC: the bytes of RFC 3442 as decimal numbers. */
function octetRoutes(words: readonly string[]): OptionValue | undefined {
  const bytes = words.map(Number);
  if (!bytes.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255)) return undefined;
  const routes: { destination: string; router: string }[] = [];
  for (let at = 0; at < bytes.length; ) {
    const width = bytes[at] ?? 0;
    const significant = Math.ceil(width / 8);
    const destination = [...bytes.slice(at + 1, at + 1 + significant), 0, 0, 0, 0].slice(0, 4);
    const router = bytes.slice(at + 1 + significant, at + 5 + significant);
    if (width > 32 || router.length < 4) return undefined;
    routes.push({ destination: `${destination.join('.')}/${width}`, router: router.join('.') });
    at += 5 + significant;
  }
  return { kind: 'routes', routes };
}

function isPrefix(text: string): boolean {
  const [address = '', width = ''] = text.split('/');
  return isIPv4(address) && /^\d{1,2}$/.test(width) && Number(width) <= 32;
}
