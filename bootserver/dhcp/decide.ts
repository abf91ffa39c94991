import { inSubnet, noAddress } from './address.ts';
import { type AddressView, chooseAddress, isNamed, mayUse, offerMs, reservedAddress } from './allocation.ts';
import { bootFields } from './bootFields.ts';
import { bootContext } from './bootView.ts';
import type { ClientFacts } from './client.ts';
import { noClientKey } from './clientKey.ts';
import type { Lease, LeaseChange } from './leases.ts';
import { fitted } from './messageSize.ts';
import type { DhcpMode } from './network.ts';
import { readOption } from './options.ts';
import type { DhcpPacket } from './packet.ts';
import { proxyDiscover, proxyInform, proxyRequest } from './proxy.ts';
import { buildNak, buildReply, messageType } from './reply.ts';

/** What to do about one message. `changes` are made, and are on stable storage, before the reply is sent. */
export type Decision =
  | {
      kind: 'reply';
      reply: DhcpPacket;
      what: 'OFFER' | 'ACK' | 'NAK';
      changes: LeaseChange[];
      /** Options that the client has no room for. */
      leftOut?: number[];
    }
  | {
      kind: 'silent';
      reason: string;
      changes: LeaseChange[];
      /** Somebody waits for an address and there is none: the operator has to know. */
      noAddress?: true;
    };

/** All that a decision knows beside the message: the network (with its mode), the leases, and what is known of this client. */
export interface DecisionView extends AddressView {
  /** Whether this client was handed our iPXE in its present boot. */
  loaderGiven: boolean;
  /** Whether it got our iPXE again and again and never asked for its script. */
  isLooping?: boolean;
}

/** How long an address stays unused after a client found another host on it. */
const declinedMs = 10 * 60_000;
/** Longer than a boot from the network, up to an OS that renews. */
const firstLeaseSeconds = 15 * 60;

type Handlers = Record<number, (request: DhcpPacket, client: ClientFacts, view: DecisionView) => Decision>;

const full: Handlers = {
  [messageType.discover]: discover,
  [messageType.request]: request,
  [messageType.decline]: decline,
  [messageType.release]: release,
  [messageType.inform]: inform,
};

const proxy: Handlers = {
  [messageType.discover]: proxyDiscover,
  [messageType.request]: proxyRequest,
  [messageType.inform]: proxyInform,
};

/** What is answered at all, and by whom: one row for each mode of a network. */
const modes: Record<DhcpMode, Handlers> = { full, proxy, '4011-only': {}, off: {} };

/** The whole of a DHCP server's thinking (RFC 2131 §4.3): a message and what is known, to a reply or a reason for none. */
export function decide(packet: DhcpPacket, client: ClientFacts, view: DecisionView): Decision {
  if (packet.op !== 1) return silent('not from a client');
  if (client.key === noClientKey) return silent('neither a hardware address nor a client id');
  const handler = modes[view.network.mode][readOption(packet.options, 'messageType') ?? 0];
  return handler === undefined ? silent('not a request') : handler(packet, client, view);
}

function discover(packet: DhcpPacket, client: ClientFacts, view: DecisionView): Decision {
  const address = chooseAddress(client, readOption(packet.options, 'requestedAddress'), view);
  if (address === undefined) return { ...silent('no free address'), noAddress: true };
  const changes = isBound(client, address, view)
    ? []
    : [{ set: lease(client, address, 'offered', view.now + offerMs) }];
  return answer('OFFER', packet, client, view, address, changes);
}

/** A REQUEST means four things; which one shows in the fields that are set (RFC 2131 §4.3.2, table 4). */
function request(packet: DhcpPacket, client: ClientFacts, view: DecisionView): Decision {
  const serverId = readOption(packet.options, 'serverId');
  const requested = readOption(packet.options, 'requestedAddress');
  if (serverId !== undefined && serverId !== view.network.address) return otherServer(client, view);
  if (serverId !== undefined) return select(packet, client, view, requested ?? packet.ciaddr);
  if (packet.ciaddr !== noAddress) return renew(packet, client, view, packet.ciaddr);
  if (requested === undefined) return silent('a REQUEST without an address');
  return initReboot(packet, client, view, requested);
}

/** Who was offered nothing gets nothing: to ask for every address in turn needs no answer of ours, and so no network of one's own. */
function select(packet: DhcpPacket, client: ClientFacts, view: DecisionView, address: string): Decision {
  return hasRecord(client, view) || isTrusted(client, view)
    ? grantOrRefuse(packet, client, view, address)
    : refuse(packet, view, address);
}

/**
 * A client uses its address (RENEWING or REBINDING). Without a record of it the address is another server's to extend, which a broadcast
 * reaches too; only what is certainly not the client's is refused.
 */
function renew(packet: DhcpPacket, client: ClientFacts, view: DecisionView, address: string): Decision {
  if (!inSubnet(address, view.network.subnet)) return refuse(packet, view, address);
  if (hasRecord(client, view)) return grantOrRefuse(packet, client, view, address);
  if (isTrusted(client, view) && mayUse(client, address, view)) return grant(packet, client, view, address);
  const holder = view.leases.at(address);
  const isAnothers = holder?.state === 'bound' && holder.expiresAt > view.now;
  return isAnothers ? refuse(packet, view, address) : silent('no record of this client');
}

/** Whether we have told the client an address before, or would tell it but one. */
function hasRecord(client: ClientFacts, view: DecisionView): boolean {
  return reservedAddress(client, view) !== undefined || view.leases.ofClient(client.key) !== undefined;
}

function isTrusted(client: ClientFacts, view: DecisionView): boolean {
  return view.isForgetful === true || isNamed(client, view);
}

/** The client took another server's offer: what we held for it is free again. */
function otherServer(client: ClientFacts, view: DecisionView): Decision {
  const held = view.leases.ofClient(client.key);
  return silent('another server was chosen', held?.state === 'offered' ? [{ free: held.address }] : []);
}

/**
 * A restarting client wants its former address. One of another network is refused; without a record of the client there may be
 * another server that has one: say nothing (RFC 2131 §4.3.2).
 */
function initReboot(
  packet: DhcpPacket,
  client: ClientFacts,
  view: DecisionView,
  requested: string,
): Decision {
  if (!inSubnet(requested, view.network.subnet)) return refuse(packet, view, requested);
  if (!hasRecord(client, view)) return silent('no record of this client');
  return grantOrRefuse(packet, client, view, requested);
}

function grantOrRefuse(
  packet: DhcpPacket,
  client: ClientFacts,
  view: DecisionView,
  address: string,
): Decision {
  return mayUse(client, address, view) ? grant(packet, client, view, address) : refuse(packet, view, address);
}

function grant(packet: DhcpPacket, client: ClientFacts, view: DecisionView, address: string): Decision {
  const expiresAt = view.now + leaseSeconds(client, view) * 1000;
  return answer('ACK', packet, client, view, address, [{ set: lease(client, address, 'bound', expiresAt) }]);
}

function refuse(packet: DhcpPacket, { network }: DecisionView, address: string): Decision {
  const reply = buildNak(packet, network, `${address} is not yours here`);
  return { kind: 'reply', reply, what: 'NAK', changes: [] };
}

function decline(packet: DhcpPacket, client: ClientFacts, view: DecisionView): Decision {
  if (isForAnother(packet, view)) return silent('declined to another server');
  const address = readOption(packet.options, 'requestedAddress');
  const held = address === undefined ? undefined : view.leases.at(address);
  if (address === undefined || held?.key !== client.key || (held.state !== 'bound' && !isNamed(client, view)))
    return silent('declined an address that it was not given');
  const changes = [{ set: lease(client, address, 'declined', view.now + declinedMs) }];
  return silent(`another host has ${address}`, changes);
}

function release(packet: DhcpPacket, client: ClientFacts, view: DecisionView): Decision {
  if (isForAnother(packet, view)) return silent('released to another server');
  const held = view.leases.ofClient(client.key);
  if (held === undefined || held.address !== packet.ciaddr)
    return silent('released an address that it has not');
  // Kept: the client gets the same address next time if nobody needed it.
  return silent(`released ${held.address}`, [{ set: { ...held, state: 'released', expiresAt: view.now } }]);
}

/** The client has an address from elsewhere and wants the rest (RFC 2131 §4.3.5). */
function inform(packet: DhcpPacket, client: ClientFacts, view: DecisionView): Decision {
  if (!inSubnet(packet.ciaddr, view.network.subnet))
    return silent('an INFORM without an address of this network');
  return answer('ACK', packet, client, view, undefined, []);
}

function answer(
  what: 'OFFER' | 'ACK',
  packet: DhcpPacket,
  client: ClientFacts,
  view: DecisionView,
  address: string | undefined,
  changes: LeaseChange[],
): Decision {
  const reservation = view.reservations.reservation(client.key);
  const whole = buildReply(packet, view.network, {
    type: what === 'OFFER' ? messageType.offer : messageType.ack,
    ...(address !== undefined && { address, leaseSeconds: leaseSeconds(client, view) }),
    ...(reservation !== undefined && { reservation }),
    boot: bootFields(client, bootContext(client, view)),
  });
  return { kind: 'reply', ...fitted(whole, packet), what, changes };
}

/** A stranger's first lease is short: made-up clients do not renew it. Whoever does has the whole time. */
function leaseSeconds(client: ClientFacts, view: DecisionView): number {
  const { leaseSeconds: whole } = view.network;
  const held = view.leases.ofClient(client.key);
  const isProven = held?.state === 'bound' && held.expiresAt > view.now;
  return isProven || isNamed(client, view) ? whole : Math.min(whole, firstLeaseSeconds);
}

function isForAnother({ options }: DhcpPacket, { network }: DecisionView): boolean {
  const serverId = readOption(options, 'serverId');
  return serverId !== undefined && serverId !== network.address;
}

function isBound(client: ClientFacts, address: string, view: DecisionView): boolean {
  const held = view.leases.ofClient(client.key);
  return held?.address === address && held.state === 'bound' && held.expiresAt > view.now;
}

function lease(client: ClientFacts, address: string, state: Lease['state'], expiresAt: number): Lease {
  return { key: client.key, address, state, expiresAt };
}

function silent(reason: string, changes: LeaseChange[] = []): Extract<Decision, { kind: 'silent' }> {
  return { kind: 'silent', reason, changes };
}
