import { siteDiscovery } from '#contract/siteDiscovery.ts';
import { addressNumber, addressText } from './address.ts';
import { decodeNames, encodeNames } from './domainNames.ts';
import type { StaticRoute } from './network.ts';
import { decodeRoutes, encodeRoutes } from './staticRoutes.ts';

/** How one option's value is written. `decode` is total: undefined when the bytes are no such value. */
interface Codec<Value> {
  decode(bytes: Buffer): Value | undefined;
  encode(value: Value): Buffer;
}

const uint8: Codec<number> = {
  decode: (bytes) => (bytes.length === 1 ? bytes.readUInt8() : undefined),
  encode: (value) => Buffer.from([value]),
};

const uint16: Codec<number> = {
  decode: (bytes) => (bytes.length === 2 ? bytes.readUInt16BE() : undefined),
  encode: (value) => Buffer.from([value >> 8, value & 255]),
};

const uint32: Codec<number> = {
  decode: (bytes) => (bytes.length === 4 ? bytes.readUInt32BE() : undefined),
  encode(value) {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  },
};

const address: Codec<string> = {
  decode: (bytes) => (bytes.length === 4 ? addressText(bytes.readUInt32BE()) : undefined),
  encode: (value) => uint32.encode(addressNumber(value)),
};

const addresses: Codec<string[]> = {
  decode: (bytes) => (bytes.length > 0 ? items(bytes, 4, address) : undefined),
  encode: (values) => Buffer.concat(values.map(address.encode)),
};

const uint16s: Codec<number[]> = {
  decode: (bytes) => (bytes.length > 0 ? items(bytes, 2, uint16) : undefined),
  encode: (values) => Buffer.concat(values.map(uint16.encode)),
};

/** Text; some clients end it with a NUL, which RFC 2132 §2 says to remove. */
const text: Codec<string> = {
  decode(bytes) {
    let length = bytes.length;
    while (length > 0 && bytes[length - 1] === 0) length--;
    return bytes.toString('latin1', 0, length);
  },
  encode: (value) => Buffer.from(value, 'latin1'),
};

const raw: Codec<Buffer> = { decode: (bytes) => bytes, encode: (value) => value };

const names: Codec<string[]> = { decode: decodeNames, encode: encodeNames };
const routes: Codec<StaticRoute[]> = { decode: decodeRoutes, encode: encodeRoutes };

/** Every option that is read or sent: number, how its value is written, where that is said. */
export const dhcpOptions = {
  subnetMask: { number: 1, codec: address, source: 'RFC 2132 §3.3' },
  routers: { number: 3, codec: addresses, source: 'RFC 2132 §3.5' },
  dnsServers: { number: 6, codec: addresses, source: 'RFC 2132 §3.8' },
  hostname: { number: 12, codec: text, source: 'RFC 2132 §3.14' },
  domainName: { number: 15, codec: text, source: 'RFC 2132 §3.17' },
  ntpServers: { number: 42, codec: addresses, source: 'RFC 2132 §8.3' },
  vendorSpecific: { number: 43, codec: raw, source: 'RFC 2132 §8.4' },
  requestedAddress: { number: 50, codec: address, source: 'RFC 2132 §9.1' },
  leaseSeconds: { number: 51, codec: uint32, source: 'RFC 2132 §9.2' },
  messageType: { number: 53, codec: uint8, source: 'RFC 2132 §9.6' },
  serverId: { number: 54, codec: address, source: 'RFC 2132 §9.7' },
  parameterList: { number: 55, codec: raw, source: 'RFC 2132 §9.8' },
  message: { number: 56, codec: text, source: 'RFC 2132 §9.9' },
  maximumSize: { number: 57, codec: uint16, source: 'RFC 2132 §9.10' },
  renewalSeconds: { number: 58, codec: uint32, source: 'RFC 2132 §9.11' },
  rebindingSeconds: { number: 59, codec: uint32, source: 'RFC 2132 §9.12' },
  vendorClass: { number: 60, codec: text, source: 'RFC 2132 §9.13' },
  clientId: { number: 61, codec: raw, source: 'RFC 2132 §9.14' },
  serverName: { number: 66, codec: text, source: 'RFC 2132 §9.4' },
  bootFile: { number: 67, codec: text, source: 'RFC 2132 §9.5' },
  userClass: { number: 77, codec: raw, source: 'RFC 3004 §4' },
  relayAgent: { number: 82, codec: raw, source: 'RFC 3046 §2.0' },
  architectures: { number: 93, codec: uint16s, source: 'RFC 4578 §2.1' },
  networkInterface: { number: 94, codec: raw, source: 'RFC 4578 §2.2' },
  machineId: { number: 97, codec: raw, source: 'RFC 4578 §2.3' },
  subnetSelection: { number: 118, codec: address, source: 'RFC 3011 §2' },
  domainSearch: { number: 119, codec: names, source: 'RFC 3397 §2' },
  staticRoutes: { number: 121, codec: routes, source: 'RFC 3442' },
  ipxe: { number: 175, codec: raw, source: "iPXE's encapsulated options" },
  microsoftRoutes: { number: 249, codec: routes, source: 'MS-DHCPE §2.2.7: before RFC 3442' },
  site: { number: siteDiscovery.optionNumber, codec: text, source: 'contract/siteDiscovery.ts' },
} as const;

export type OptionName = keyof typeof dhcpOptions;
export type OptionValue<Name extends OptionName> =
  (typeof dhcpOptions)[Name]['codec'] extends Codec<infer Value> ? Value : never;
export type OptionValues = { [Name in OptionName]?: OptionValue<Name> | undefined };

/** The value of an option; undefined when it is absent or its bytes are no such value. */
export function readOption<Name extends OptionName>(
  options: ReadonlyMap<number, Buffer>,
  name: Name,
): OptionValue<Name> | undefined {
  const bytes = options.get(dhcpOptions[name].number);
  return bytes === undefined ? undefined : codecOf(name).decode(bytes);
}

/** Options as a packet holds them; what is undefined is left out. */
export function writeOptions(values: OptionValues): Map<number, Buffer> {
  const options = new Map<number, Buffer>();
  for (const name of Object.keys(values) as OptionName[]) {
    const value = values[name];
    if (value !== undefined) options.set(dhcpOptions[name].number, codecOf(name).encode(value as never));
  }
  return options;
}

function codecOf<Name extends OptionName>(name: Name): Codec<OptionValue<Name>> {
  return dhcpOptions[name].codec as unknown as Codec<OptionValue<Name>>;
}

function items<Value>(bytes: Buffer, size: number, codec: Codec<Value>): Value[] | undefined {
  if (bytes.length % size !== 0) return undefined;
  const values: Value[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    values.push(codec.decode(bytes.subarray(at, at + size)) as Value);
  }
  return values;
}
