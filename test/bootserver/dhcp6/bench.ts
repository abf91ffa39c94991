import Database from 'better-sqlite3';
import { client6Facts } from '#bootserver/dhcp6/client.ts';
import { decide6 } from '#bootserver/dhcp6/decide.ts';
import { decodeAssociation, encodeAssociation } from '#bootserver/dhcp6/identityAssociation.ts';
import { Lease6Table } from '#bootserver/dhcp6/leases.ts';
import { type Dhcp6Message, encodeMessage, messageType, type RawOption } from '#bootserver/dhcp6/message.ts';
import type { Dhcp6Network, Dhcp6Site } from '#bootserver/dhcp6/network.ts';
import {
  allOf,
  type OptionName,
  type OptionValues,
  readOption,
  writeOptions,
} from '#bootserver/dhcp6/options.ts';
import { unwrap, wrap } from '#bootserver/dhcp6/relay.ts';
import type { Decision6 } from '#bootserver/dhcp6/reply.ts';
import type { LoaderChoice } from '#bootserver/machine.ts';

export const network: Dhcp6Network = {
  address: 'fd77::1',
  prefixLength: 64,
  pool: { first: 'fd77::100', last: 'fd77::103' },
  dns: ['fd77::1'],
  search: ['lab.example'],
  leaseSeconds: 600,
};

/** Behind a relay. */
export const far: Dhcp6Network = {
  ...network,
  address: 'fd78::',
  pool: { first: 'fd78::10', last: 'fd78::11' },
};

export const site: Dhcp6Site = {
  duid: Buffer.from('0004112233445566778899aabbccddeeff00', 'hex'),
  address: 'fd77::1',
  tftpUrl: 'tftp://[fd77::1]',
  httpUrl: 'http://[fd77::1]:8080',
  machineUrl: 'https://[fd77::1]:8443',
  preference: 0,
};

export const mac = '52:54:00:77:00:41';
/** What a NIC with that MAC has as its link-local address. */
export const linkLocal = 'fe80::5054:ff:fe77:41';
/** Of firmware that knows its UUID. */
export const uuidDuid = Buffer.from('000400112233445566778899aabbccddeeff', 'hex');

/** A server's mind without sockets: what it is told goes over the wire format, what it decides is carried out. */
export class Bench6 {
  readonly leases: Lease6Table;
  readonly reserved = new Map<string, string>();
  site = site;
  now = 1_000_000;
  poolIsFull = false;
  isLooping = false;
  loader?: LoaderChoice;

  constructor(database = new Database(':memory:')) {
    this.leases = new Lease6Table(database);
  }

  /** The decision on a datagram. */
  ask(datagram: Buffer, from: string = linkLocal): Decision6 {
    const relayed = unwrap(datagram);
    if ('malformed' in relayed) throw new Error(relayed.malformed);
    const reservations = {
      addressOf: (one: string) => this.reserved.get(one),
      isReserved: (address: string) => [...this.reserved.values()].includes(address),
    };
    const networks = [network, far] as const;
    const view = { ...this, leases: this.leases, networks, reservations };
    const decision = decide6(relayed, client6Facts(relayed, from), view);
    if (decision.kind === 'reply') for (const change of decision.changes) this.leases.set(change);
    this.leases.commit();
    return decision;
  }

  /** The reply as the client decodes it. @throws Error when there is none */
  reply(message: Dhcp6Message, from?: string): Dhcp6Message {
    const decision = this.ask(encodeMessage(message), from);
    if (decision.kind === 'silent') throw new Error(`silent: ${decision.reason}`);
    const decoded = unwrap(wrap(decision.reply, []));
    if ('malformed' in decoded) throw new Error(decoded.malformed);
    return decoded.message;
  }

  silence(message: Dhcp6Message, from?: string): string {
    const decision = this.ask(encodeMessage(message), from);
    if (decision.kind === 'reply') throw new Error('there was a reply');
    return decision.reason;
  }
}

/** A message of a client; its DUID is that of firmware unless another is given. */
export function client(
  type: keyof typeof messageType,
  values: OptionValues & { addresses?: string[]; iaid?: number } = {},
  more: RawOption[] = [],
): Dhcp6Message {
  const { addresses = [], iaid = 7, ...options } = values;
  const iaNa = type === 'informationRequest' ? undefined : association(iaid, addresses);
  return {
    type: messageType[type],
    transactionId: 0xabcdef,
    options: [...writeOptions({ clientId: uuidDuid, iaNa, ...options }), ...more],
  };
}

export function association(iaid: number, addresses: readonly string[] = []): Buffer {
  const held = addresses.map((address) => ({ address, preferredSeconds: 0, validSeconds: 0 }));
  return encodeAssociation({ iaid, renewSeconds: 0, rebindSeconds: 0, addresses: held });
}

/** The associations in a reply, as `address validSeconds` or `status <code>`. */
export function told({ options }: Dhcp6Message): string[] {
  return allOf(options, 'iaNa').flatMap((bytes) => {
    const { addresses = [], status } = decodeAssociation(bytes) ?? {};
    const texts = addresses.map(({ address, validSeconds }) => `${address} ${validSeconds}`);
    return status === undefined ? texts : [...texts, `status ${status.code}`];
  });
}

export function optionOf<Name extends OptionName>({ options }: Dhcp6Message, name: Name) {
  return readOption(options, name);
}
