import { inPrefix } from './address.ts';
import { type Address6View, type Asker, associationKey, chooseAddress, mayUse } from './allocation.ts';
import type { Client6Facts } from './client.ts';
import { decodeAssociation, type IdentityAssociation } from './identityAssociation.ts';
import type { Lease6 } from './leases.ts';
import type { RawOption } from './message.ts';
import type { Dhcp6Network } from './network.ts';
import { allOf, statusCode } from './options.ts';

/** One identity association of a message, and who asks for it. */
export interface Asked extends Asker {
  association: IdentityAssociation;
}

/** What becomes of one association: what the client is told, and what changes by it. */
export interface Outcome {
  association: IdentityAssociation;
  changes: Lease6[];
}

/** How long an offered address waits for its client: firmware collects offers for seconds, and asks again for a minute. */
const offerMs = 2 * 60_000;
/** How long an address stays unused after a client found another host on it. */
const declinedMs = 10 * 60_000;
/** Associations of one message that are looked at: what one client holds is bounded. */
const mostAssociations = 8;

/** The associations of a message, each number once. */
export function askedFor(
  options: readonly RawOption[],
  client: Client6Facts,
  network: Dhcp6Network,
): Asked[] {
  const decoded = allOf(options, 'iaNa').flatMap((bytes) => decodeAssociation(bytes) ?? []);
  const byNumber = new Map(decoded.map((association) => [association.iaid, association]));
  const associations = [...byNumber.values()].slice(0, mostAssociations);
  return associations.map((association) => ({
    association,
    client,
    network,
    key: associationKey(client, association.iaid, associations.length === 1),
  }));
}

/** For a SOLICIT: an address is held for the client, or with `commit` (rapid commit) its own at once (RFC 8415 §18.3.1). */
export function offer(asked: Asked, commit: boolean, view: Address6View): Outcome {
  const address = chooseAddress(wishes(asked), asked, view);
  if (address === undefined) return noAddress(asked);
  if (commit) return granted(asked, address, view);
  const held = view.leases.ofClient(asked.key);
  const isBound = held?.address === address && held.state === 'bound' && held.expiresAt > view.now;
  const changes = isBound ? [] : [lease(asked, address, 'offered', view.now + offerMs)];
  return { association: withAddress(asked, address), changes };
}

/** For a REQUEST: the address asked for, or another one where that is somebody's (RFC 8415 §18.3.2). */
export function grant(asked: Asked, view: Address6View): Outcome {
  const wished = wishes(asked);
  if (wished.length > 0 && wished.every((address) => !inPrefix(address, asked.network)))
    return refused(asked, statusCode.notOnLink, 'not an address of this link');
  const address = wished.find((one) => mayUse(one, asked, view)) ?? chooseAddress(wished, asked, view);
  return address === undefined ? noAddress(asked) : granted(asked, address, view);
}

/**
 * For a RENEW or REBIND: what the client may keep is extended, also where the record of it was lost; the rest ends at once (RFC
 * 8415 §18.3.4, §18.3.5).
 */
export function extend(asked: Asked, view: Address6View): Outcome {
  const wished = wishes(asked);
  const kept = wished.find((address) => mayUse(address, asked, view));
  const isKnown = view.leases.ofClient(asked.key) !== undefined;
  if (kept === undefined && !isKnown) return refused(asked, statusCode.noBinding, 'no lease of this client');
  const fresh = kept ?? chooseAddress([], asked, view);
  const ended = wished
    .filter((address) => address !== fresh)
    .map((address) => ({ address, preferredSeconds: 0, validSeconds: 0 }));
  if (fresh === undefined) return { association: { ...empty(asked), addresses: ended }, changes: [] };
  const { association, changes } = granted(asked, fresh, view);
  return { association: { ...association, addresses: [...association.addresses, ...ended] }, changes };
}

/** For a RELEASE; undefined when there was such a lease, since then nothing is said of it (RFC 8415 §18.3.7). */
export function release(
  asked: Asked,
  view: Address6View,
): { refusal?: IdentityAssociation; changes: Lease6[] } {
  // Kept as expired: the client gets the same address next time if nobody needed it.
  return giveUp(asked, view, (held) => ({ ...held, expiresAt: view.now }));
}

/** For a DECLINE: some other host has the address (RFC 8415 §18.3.8). */
export function decline(
  asked: Asked,
  view: Address6View,
): { refusal?: IdentityAssociation; changes: Lease6[] } {
  return giveUp(asked, view, (held) => ({ ...held, state: 'declined', expiresAt: view.now + declinedMs }));
}

function giveUp(
  asked: Asked,
  { leases }: Address6View,
  change: (held: Lease6) => Lease6,
): { refusal?: IdentityAssociation; changes: Lease6[] } {
  const { iaid } = asked.association;
  const held = leases.ofClient(asked.key);
  // An association of an earlier stage of the boot must not give up the address that a later one has.
  const isCurrent = held?.iaid === iaid && held.duid === duidOf(asked);
  if (held !== undefined && isCurrent && wishes(asked).includes(held.address))
    return { changes: [change(held)] };
  return { refusal: refused(asked, statusCode.noBinding, 'no such lease').association, changes: [] };
}

function granted(asked: Asked, address: string, view: Address6View): Outcome {
  const expiresAt = view.now + asked.network.leaseSeconds * 1000;
  return { association: withAddress(asked, address), changes: [lease(asked, address, 'bound', expiresAt)] };
}

function noAddress(asked: Asked): Outcome {
  return refused(asked, statusCode.noAddressAvailable, 'no free address');
}

function refused(asked: Asked, code: number, message: string): Outcome {
  return { association: { ...empty(asked), status: { code, message } }, changes: [] };
}

function empty({ association }: Asked): IdentityAssociation {
  return { iaid: association.iaid, renewSeconds: 0, rebindSeconds: 0, addresses: [] };
}

/** T1 and T2 at the fractions of RFC 8415 §21.4. */
function withAddress(asked: Asked, address: string): IdentityAssociation {
  const { leaseSeconds } = asked.network;
  return {
    ...empty(asked),
    renewSeconds: Math.floor(leaseSeconds / 2),
    rebindSeconds: Math.floor(leaseSeconds * 0.8),
    addresses: [{ address, preferredSeconds: leaseSeconds, validSeconds: leaseSeconds }],
  };
}

function wishes({ association }: Asked): string[] {
  return association.addresses.map(({ address }) => address);
}

function lease(asked: Asked, address: string, state: Lease6['state'], expiresAt: number): Lease6 {
  const { key, client, association } = asked;
  const { mac } = client;
  const common = { key, address, duid: duidOf(asked), iaid: association.iaid, state, expiresAt };
  return { ...common, ...(mac !== undefined && { mac }) };
}

function duidOf({ client }: Asked): string {
  return client.duid?.toString('hex') ?? '';
}
