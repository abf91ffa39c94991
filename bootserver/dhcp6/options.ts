import { ipv6Bytes, ipv6Text } from '#base/ipv6Address.ts';
import { encodeItems } from './classes.ts';
import type { RawOption } from './message.ts';

/** How one option's value is written. `decode` is total: undefined when the bytes are no such value. */
interface Codec<Value> {
  decode(bytes: Buffer): Value | undefined;
  encode(value: Value): Buffer;
}

const raw: Codec<Buffer> = { decode: (bytes) => bytes, encode: (value) => value };

/** An option that says something by being there. */
const presence: Codec<true> = {
  decode: (bytes) => (bytes.length === 0 ? true : undefined),
  encode: () => Buffer.alloc(0),
};

const uint8: Codec<number> = {
  decode: (bytes) => (bytes.length === 1 ? bytes.readUInt8() : undefined),
  encode: (value) => Buffer.from([value]),
};

const uint16s: Codec<number[]> = {
  decode: (bytes) =>
    bytes.length % 2 === 0
      ? Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readUInt16BE(index * 2))
      : undefined,
  encode: (values) => Buffer.from(values.flatMap((value) => [value >> 8, value & 255])),
};

const addresses: Codec<string[]> = {
  decode: (bytes) =>
    bytes.length > 0 && bytes.length % 16 === 0
      ? Array.from({ length: bytes.length / 16 }, (_, index) =>
          ipv6Text(bytes.subarray(index * 16, index * 16 + 16)),
        )
      : undefined,
  encode: (values) => Buffer.concat(values.map(ipv6Bytes)),
};

const text: Codec<string> = {
  decode: (bytes) => bytes.toString('latin1').replace(/\0+$/, ''),
  encode: (value) => Buffer.from(value, 'latin1'),
};

/** Texts with 16-bit lengths; edk2 gives up a boot whose option 60 is one bare string (edk2 issue 10114). */
const items: Codec<string[]> = { decode: () => undefined, encode: encodeItems };

/** Domain names as DNS writes them, uncompressed (RFC 3646 §4, RFC 8415 §10). Only sent. */
const domains: Codec<string[]> = {
  decode: () => undefined,
  encode: (names) => Buffer.concat(names.map(domainBytes)),
};

const status: Codec<Status> = {
  decode: (bytes) =>
    bytes.length >= 2 ? { code: bytes.readUInt16BE(), message: bytes.toString('utf8', 2) } : undefined,
  encode: ({ code, message }) => Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(message)]),
};

/** How something went, of a message or of one address (RFC 8415 §21.13). */
export interface Status {
  code: number;
  message: string;
}

export const statusCode = {
  success: 0,
  noAddressAvailable: 2,
  noBinding: 3,
  notOnLink: 4,
  noPrefixAvailable: 6,
} as const;

/** Every option that is read or sent: code, how its value is written, where that is said. */
export const dhcp6Options = {
  clientId: { code: 1, codec: raw, source: 'RFC 8415 §21.2' },
  serverId: { code: 2, codec: raw, source: 'RFC 8415 §21.3' },
  iaNa: { code: 3, codec: raw, source: 'RFC 8415 §21.4' },
  iaAddress: { code: 5, codec: raw, source: 'RFC 8415 §21.6' },
  optionRequest: { code: 6, codec: uint16s, source: 'RFC 8415 §21.7' },
  preference: { code: 7, codec: uint8, source: 'RFC 8415 §21.8' },
  relayMessage: { code: 9, codec: raw, source: 'RFC 8415 §21.10' },
  status: { code: 13, codec: status, source: 'RFC 8415 §21.13' },
  rapidCommit: { code: 14, codec: presence, source: 'RFC 8415 §21.14' },
  userClass: { code: 15, codec: raw, source: 'RFC 8415 §21.15' },
  vendorClass: { code: 16, codec: raw, source: 'RFC 8415 §21.16' },
  interfaceId: { code: 18, codec: raw, source: 'RFC 8415 §21.18' },
  dnsServers: { code: 23, codec: addresses, source: 'RFC 3646 §3' },
  domainSearch: { code: 24, codec: domains, source: 'RFC 3646 §4' },
  iaPd: { code: 25, codec: raw, source: 'RFC 8415 §21.21' },
  echoRequest: { code: 43, codec: uint16s, source: 'RFC 4994 §3' },
  bootFileUrl: { code: 59, codec: text, source: 'RFC 5970 §3.1' },
  bootFileParameters: { code: 60, codec: items, source: 'RFC 5970 §3.2' },
  architectures: { code: 61, codec: uint16s, source: 'RFC 5970 §3.3' },
  networkInterface: { code: 62, codec: raw, source: 'RFC 5970 §3.4' },
  clientLinkLayer: { code: 79, codec: raw, source: 'RFC 6939 §4' },
  relaySourcePort: { code: 135, codec: uint16s, source: 'RFC 8357 §5.2' },
} as const;

export type OptionName = keyof typeof dhcp6Options;
export type OptionValue<Name extends OptionName> =
  (typeof dhcp6Options)[Name]['codec'] extends Codec<infer Value> ? Value : never;
export type OptionValues = { [Name in OptionName]?: OptionValue<Name> | undefined };

/** The value of the first option of this name; undefined when it is absent or its bytes are no such value. */
export function readOption<Name extends OptionName>(
  options: readonly RawOption[],
  name: Name,
): OptionValue<Name> | undefined {
  const { code } = dhcp6Options[name];
  const found = options.find((option) => option.code === code);
  return found === undefined ? undefined : codecOf(name).decode(found.value);
}

/** The bytes of every option of this name. */
export function allOf(options: readonly RawOption[], name: OptionName): Buffer[] {
  const { code } = dhcp6Options[name];
  return options.filter((option) => option.code === code).map(({ value }) => value);
}

/** Options as a message holds them, in the order given; what is undefined is left out. */
export function writeOptions(values: OptionValues): RawOption[] {
  return (Object.keys(values) as OptionName[]).flatMap((name) => {
    const value = values[name];
    if (value === undefined) return [];
    return [{ code: dhcp6Options[name].code, value: codecOf(name).encode(value as never) }];
  });
}

function codecOf<Name extends OptionName>(name: Name): Codec<OptionValue<Name>> {
  return dhcp6Options[name].codec as unknown as Codec<OptionValue<Name>>;
}

function domainBytes(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '');
  const parts = labels.flatMap((label) => [Buffer.from([label.length]), Buffer.from(label, 'latin1')]);
  return Buffer.concat([...parts, Buffer.alloc(1)]);
}
