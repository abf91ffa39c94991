import type { LoaderChoice } from '../machine.ts';
import type { Address6View } from './allocation.ts';
import type { Outcome } from './associations.ts';
import { bootOptions } from './bootOptions.ts';
import type { Client6Facts } from './client.ts';
import { encodeAssociation, type IdentityAssociation } from './identityAssociation.ts';
import type { Lease6 } from './leases.ts';
import { type Dhcp6Message, messageType, type RawOption } from './message.ts';
import type { Dhcp6Network } from './network.ts';
import { allOf, type OptionValues, type Status, statusCode, writeOptions } from './options.ts';

/** What to do about one message. `changes` are on stable storage before the reply is sent. */
export type Decision6 =
  | {
      kind: 'reply';
      reply: Dhcp6Message;
      what: 'ADVERTISE' | 'REPLY';
      /** What the client has, or is offered, by this reply. */
      addresses: string[];
      bootFileUrl?: string;
      changes: Lease6[];
      /** Somebody wants an address and there is none: the operator has to know. */
      noAddress?: true;
    }
  | { kind: 'silent'; reason: string };

export interface Decision6View extends Address6View {
  /** The client got iPXE again and again without asking for its script: it is not given it once more. */
  isLooping?: boolean;
  /** What the client's firmware is handed. */
  loader?: LoaderChoice;
  /** The first is that of the interface; the others are behind relays. */
  networks: readonly [Dhcp6Network, ...Dhcp6Network[]];
}

/** One message with all that its handler wants to know. */
export interface Request {
  message: Dhcp6Message;
  client: Client6Facts;
  network: Dhcp6Network;
  view: Decision6View;
}

/** ADVERTISE and REPLY alike, so that the REPLY cannot contradict the offer. `first` goes before all that is said of addresses. */
export function answer(
  request: Request,
  type: typeof messageType.advertise | typeof messageType.reply,
  outcomes: readonly Outcome[],
  first: OptionValues = {},
): Decision6 {
  const associations = outcomes.map(({ association }) => association);
  const boot = bootOptions(request.client, request.view);
  const options = [
    ...writeOptions(first),
    ...associations.flatMap(associationOption),
    ...noPrefixes(request),
    ...writeOptions({ ...networkOptions(request), ...boot }),
  ];
  const isShort = associations.some(({ status }) => status?.code === statusCode.noAddressAvailable);
  return {
    kind: 'reply',
    reply: reply(request, type, options),
    what: type === messageType.advertise ? 'ADVERTISE' : 'REPLY',
    addresses: associations.flatMap(liveAddresses),
    ...(boot.bootFileUrl !== undefined && { bootFileUrl: boot.bootFileUrl }),
    changes: outcomes.flatMap(({ changes }) => changes),
    ...(isShort && { noAddress: true }),
  };
}

/** A reply that says how it went, and nothing of the network. */
export function bare(
  request: Request,
  status: Status,
  refusals: readonly IdentityAssociation[],
  changes: Lease6[],
): Decision6 {
  const options = [...writeOptions({ status }), ...refusals.flatMap(associationOption)];
  return {
    kind: 'reply',
    reply: reply(request, messageType.reply, options),
    what: 'REPLY',
    addresses: [],
    changes,
  };
}

function reply({ message, client, view }: Request, type: number, options: RawOption[]): Dhcp6Message {
  const ids = writeOptions({ clientId: client.duid, serverId: view.site.duid });
  return { type, transactionId: message.transactionId, options: [...ids, ...options] };
}

function associationOption(association: IdentityAssociation): RawOption[] {
  return writeOptions({ iaNa: encodeAssociation(association) });
}

function liveAddresses({ addresses }: IdentityAssociation): string[] {
  return addresses.filter(({ validSeconds }) => validSeconds > 0).map(({ address }) => address);
}

function networkOptions({ network: { dns, search } }: Request): OptionValues {
  return {
    dnsServers: dns?.length ? [...dns] : undefined,
    domainSearch: search?.length ? [...search] : undefined,
  };
}

const prefixHeader = 12;
const mostPrefixes = 8;

/** Prefixes are delegated by routers, not here: each wish for one is answered by that (RFC 8415 §18.3.2). IA_PD is laid out as IA_NA is (§21.21). */
function noPrefixes({ message }: Request): RawOption[] {
  const status = { code: statusCode.noPrefixAvailable, message: 'no prefixes are delegated here' };
  const nothing = { renewSeconds: 0, rebindSeconds: 0, addresses: [], status };
  return allOf(message.options, 'iaPd')
    .filter((bytes) => bytes.length >= prefixHeader)
    .slice(0, mostPrefixes)
    .flatMap((bytes) =>
      writeOptions({ iaPd: encodeAssociation({ iaid: bytes.readUInt32BE(0), ...nothing }) }),
    );
}
