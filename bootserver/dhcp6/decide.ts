import { inPrefix } from './address.ts';
import type { Address6View } from './allocation.ts';
import {
  type Asked,
  askedFor,
  decline,
  extend,
  grant,
  type Outcome,
  offer,
  release,
} from './associations.ts';
import type { Client6Facts } from './client.ts';
import type { IdentityAssociation } from './identityAssociation.ts';
import { type Lease6, withChanges } from './leases.ts';
import { messageType } from './message.ts';
import { allOf, readOption, type Status, statusCode } from './options.ts';
import { type Relayed, relayedLink } from './relay.ts';
import { answer, bare, type Decision6, type Decision6View, type Request } from './reply.ts';

/** What a message must say of servers (RFC 8415 §16). */
type ServerRule = 'ours' | 'none' | 'ours-or-none';

const handlers: Record<number, { server: ServerRule; handle(request: Request): Decision6 }> = {
  [messageType.solicit]: { server: 'none', handle: solicit },
  [messageType.request]: { server: 'ours', handle: (request) => assign(request, grant) },
  [messageType.confirm]: { server: 'none', handle: confirm },
  [messageType.renew]: { server: 'ours', handle: (request) => assign(request, extend) },
  [messageType.rebind]: { server: 'none', handle: rebind },
  [messageType.release]: { server: 'ours', handle: (request) => giveUp(request, release) },
  [messageType.decline]: { server: 'ours', handle: (request) => giveUp(request, decline) },
  [messageType.informationRequest]: { server: 'ours-or-none', handle: inform },
};

/** The whole of a DHCPv6 server's thinking (RFC 8415 §18.3): a message and what is known, to a reply or a reason for none. */
export function decide6({ message, relays }: Relayed, client: Client6Facts, view: Decision6View): Decision6 {
  const row = handlers[message.type];
  if (row === undefined) return silent('not a request');
  if (client.duid === undefined && message.type !== messageType.informationRequest)
    return silent('no client identifier');
  if (!serverFits(row.server, readOption(message.options, 'serverId'), view))
    return silent('for another server');
  const link = relayedLink(relays);
  const network = view.networks.find((one) => link === undefined || inPrefix(link, one));
  if (network === undefined) return silent(`relayed from ${link}, a network that is not served here`);
  return row.handle({ message, client, network, view });
}

function serverFits(rule: ServerRule, named: Buffer | undefined, { site }: Decision6View): boolean {
  if (named === undefined) return rule !== 'ours';
  return rule !== 'none' && named.equals(site.duid);
}

function solicit(request: Request): Decision6 {
  const { message, view } = request;
  const commit = readOption(message.options, 'rapidCommit') === true;
  const outcomes = inTurn(request, (one, now) => offer(one, commit, now));
  if (commit && outcomes.some(({ changes }) => changes.length > 0))
    return answer(request, messageType.reply, outcomes, { rapidCommit: true });
  const preference = view.site.preference || undefined;
  return answer(request, messageType.advertise, outcomes, { preference });
}

function assign(request: Request, decideOne: (one: Asked, view: Address6View) => Outcome): Decision6 {
  return answer(request, messageType.reply, inTurn(request, decideOne));
}

/** Any server may answer a REBIND: one that knows nothing of the client leaves that to the one that does (RFC 8415 §18.3.5). */
function rebind(request: Request): Decision6 {
  const outcomes = inTurn(request, extend);
  const isKnown = outcomes.some(({ association }) => association.status === undefined);
  return isKnown ? answer(request, messageType.reply, outcomes) : silent('no lease of this client');
}

/** Whether the client's addresses fit the link that it is on now (RFC 8415 §18.3.3). */
function confirm(request: Request): Decision6 {
  const addresses = asked(request).flatMap(({ association }) =>
    association.addresses.map(({ address }) => address),
  );
  if (addresses.length === 0) return silent('a CONFIRM without an address');
  const fits = addresses.every((address) => inPrefix(address, request.network));
  const status: Status = fits
    ? { code: statusCode.success, message: 'all addresses are of this link' }
    : { code: statusCode.notOnLink, message: 'not an address of this link' };
  return bare(request, status, [], []);
}

function giveUp(
  request: Request,
  decideOne: (one: Asked, view: Address6View) => { refusal?: IdentityAssociation; changes: Lease6[] },
): Decision6 {
  const outcomes = inTurn(request, decideOne);
  const refusals = outcomes.flatMap(({ refusal }) => refusal ?? []);
  const changes = outcomes.flatMap((outcome) => outcome.changes);
  return bare(request, { code: statusCode.success, message: 'done' }, refusals, changes);
}

/** The client has addresses from elsewhere and wants the rest (RFC 8415 §18.3.6). */
function inform(request: Request): Decision6 {
  if (allOf(request.message.options, 'iaNa').length > 0)
    return silent('an INFORMATION-REQUEST for an address');
  return answer(request, messageType.reply, []);
}

function asked({ message, client, network }: Request): Asked[] {
  return askedFor(message.options, client, network);
}

/** Each association as if what was decided of those before it had happened: no two get one address. */
function inTurn<One extends { changes: Lease6[] }>(
  request: Request,
  decideOne: (one: Asked, view: Address6View) => One,
): One[] {
  const { view } = request;
  const outcomes: One[] = [];
  for (const one of asked(request)) {
    const changes = outcomes.flatMap((outcome) => outcome.changes);
    outcomes.push(decideOne(one, { ...view, leases: withChanges(view.leases, changes) }));
  }
  return outcomes;
}

function silent(reason: string): Decision6 {
  return { kind: 'silent', reason };
}
