import { ipv6Bytes, ipv6Text } from '#base/ipv6Address.ts';
import { decodeOptions, encodeOptions } from './message.ts';
import { allOf, dhcp6Options, readOption, type Status, writeOptions } from './options.ts';

/** One address of an identity association, and for how many seconds. */
export interface AssociatedAddress {
  address: string;
  preferredSeconds: number;
  validSeconds: number;
}

/** Addresses that a client uses for one purpose (IA_NA, RFC 8415 §21.4). */
export interface IdentityAssociation {
  /** The client's own number for it. */
  iaid: number;
  /** Seconds until the client asks its server, and any server, to extend them; 0: when it likes. */
  renewSeconds: number;
  rebindSeconds: number;
  addresses: AssociatedAddress[];
  status?: Status;
}

const header = 12;
const addressHeader = 24;

/** The IA_NA in an option's bytes; undefined when they are none. An address whose bytes are none is left out. */
export function decodeAssociation(bytes: Buffer): IdentityAssociation | undefined {
  if (bytes.length < header) return undefined;
  const options = decodeOptions(bytes.subarray(header));
  if (options === undefined) return undefined;
  const status = readOption(options, 'status');
  return {
    iaid: bytes.readUInt32BE(0),
    renewSeconds: bytes.readUInt32BE(4),
    rebindSeconds: bytes.readUInt32BE(8),
    addresses: allOf(options, 'iaAddress').flatMap((value) => decodeAddress(value) ?? []),
    ...(status !== undefined && { status }),
  };
}

export function encodeAssociation(association: IdentityAssociation): Buffer {
  const { iaid, renewSeconds, rebindSeconds, addresses, status } = association;
  const bytes = Buffer.alloc(header);
  bytes.writeUInt32BE(iaid, 0);
  bytes.writeUInt32BE(renewSeconds, 4);
  bytes.writeUInt32BE(rebindSeconds, 8);
  const { code } = dhcp6Options.iaAddress;
  const held = addresses.map((address) => ({ code, value: encodeAddress(address) }));
  return Buffer.concat([bytes, encodeOptions([...held, ...writeOptions({ status })])]);
}

function decodeAddress(bytes: Buffer): AssociatedAddress | undefined {
  if (bytes.length < addressHeader) return undefined;
  return {
    address: ipv6Text(bytes.subarray(0, 16)),
    preferredSeconds: bytes.readUInt32BE(16),
    validSeconds: bytes.readUInt32BE(20),
  };
}

function encodeAddress({ address, preferredSeconds, validSeconds }: AssociatedAddress): Buffer {
  const bytes = Buffer.alloc(addressHeader);
  ipv6Bytes(address).copy(bytes);
  bytes.writeUInt32BE(preferredSeconds, 16);
  bytes.writeUInt32BE(validSeconds, 20);
  return bytes;
}
