import { RailheadError } from '#contract/errors.ts';
import { renewalGraceMs } from '#contract/join.ts';
import { type AgentIdentity, identityUri } from '../agents/identity.ts';
import { endNodeOperations } from '../agents/operationEnds.ts';
import { recordEvent } from '../events.ts';
import { noteHostChange } from '../hostChanges.ts';
import { now, parseJson, type Queries, type Store } from '../store/store.ts';
import type { NewRow } from '../store/tables.ts';
import { takeTurn } from '../store/turns.ts';
import { findAgent } from './agents.ts';
import { revokeJoinTokens } from './joinTokens.ts';

/** Why, and on whose word: `token tok_…`, `host`, `centre`. */
export interface RevocationReason {
  why: string;
  by: string;
}

/**
 * Revokes an agent: its certificates no longer open anything, it cannot renew them, and the join tokens that there are let nobody in. A
 * token that is made after it lets that identity in again, by another key. For a node, the key of the ramdisk that it runs is revoked too, and nothing more is addressed to that.
 * @throws RailheadError NOT_FOUND when no such agent has joined, INVALID_STATE when it is revoked already
 */
export function revokeAgent(store: Store, identity: AgentIdentity, reason: RevocationReason) {
  return store.transaction().execute((queries) => revokeWithin(queries, identity, reason));
}

/** The same as a part of a transaction, for what must not stand without the revocation, nor this without it. */
export async function revokeWithin(queries: Queries, identity: AgentIdentity, reason: RevocationReason) {
  const uri = identityUri(identity);
  await takeTurn(queries, uri);
  const agent = await findAgent(queries, identity);
  if (agent?.revoked_at) throw revokedAlready(uri, agent.revoked_at);
  const certificates = await closeIdentity(queries, identity, reason);
  const keys = identity.role === 'node' ? await revokeMachineKey(queries, identity.id, reason) : 0;
  if (agent === undefined && keys === 0) throw neverJoined(uri);
  await recordEvent(queries, {
    type: 'agent.revoked',
    text: `${identity.role} ${identity.id} was revoked: ${reason.why}`,
    cause: reason.by,
    ...(identity.role === 'node' && { nodeId: identity.id }),
    data: { identity: uri, why: reason.why },
  });
  await noteHostChange(queries);
  return { identity: uri, certificates, machineKeys: keys };
}

/**
 * Revokes what the OS of a released node was let in by, whoever has kept a copy of it: the next OS of that node is somebody else's.
 * The ramdisk's keys end with its boot.
 */
export async function revokeReleasedOs(queries: Queries, nodeId: string, by: string): Promise<void> {
  const reason = { why: 'the node was released', by };
  const identity = { role: 'node', id: nodeId } as const;
  if ((await closeIdentity(queries, identity, reason)) === 0) return;
  await recordEvent(queries, {
    type: 'agent.revoked',
    text: `node ${nodeId} was revoked: ${reason.why}`,
    cause: by,
    nodeId,
    data: { identity: identityUri(identity), why: reason.why },
  });
  await noteHostChange(queries);
}

/**
 * The agent may not renew, what it was asked ends, and neither its certificates nor the tokens that there are for it open anything; returns
 * how many certificates those were.
 */
async function closeIdentity(
  queries: Queries,
  identity: AgentIdentity,
  reason: RevocationReason,
): Promise<number> {
  const uri = identityUri(identity);
  await takeTurn(queries, uri);
  await revokeJoinTokens(queries, identity);
  const revoked = { revoked_at: now(), revoked_why: reason.why };
  await queries.updateTable('agents').set(revoked).where('identity', '=', uri).execute();
  if (identity.role === 'node') await endNodeOperations(queries, identity.id, 'node-revoked');
  return revokeCertificates(queries, uri, reason);
}

/**
 * Revokes the agent that `name` names: a site id, a node id, or the serial of one of its certificates.
 * @throws RailheadError NOT_FOUND, INVALID_STATE
 */
export async function revokeNamed(store: Store, name: string, reason: RevocationReason) {
  return revokeAgent(store, await namedIdentity(store, name), reason);
}

async function namedIdentity(store: Queries, name: string): Promise<AgentIdentity> {
  const agent = await store
    .selectFrom('agents')
    .select(['role', 'agent_id'])
    .where((where) => where.or([where('agent_id', '=', name), where('identity', '=', name)]))
    .executeTakeFirst();
  if (agent !== undefined) return { role: agent.role, id: agent.agent_id };
  const serial = name.toLowerCase().replaceAll(':', '').replace(/^0+/, '');
  const holder = await store
    .selectFrom('certificates')
    .innerJoin('agents', 'agents.identity', 'certificates.identity')
    .select(['agents.role', 'agents.agent_id'])
    .where('serial', '=', serial)
    .executeTakeFirst();
  if (holder !== undefined) return { role: holder.role, id: holder.agent_id };
  const node = await store
    .selectFrom('nodes')
    .select('node_id')
    .where('node_id', '=', name)
    .executeTakeFirst();
  if (node !== undefined) return { role: 'node', id: node.node_id };
  throw neverJoined(name);
}

/** Whoever held an identity by another key before has lost it to a new join, and what it was asked with it. */
export async function replaceAgent(queries: Queries, identity: AgentIdentity): Promise<void> {
  await revokeCertificates(queries, identityUri(identity), { why: 'replaced by a new join', by: 'centre' });
  if (identity.role === 'node') await endNodeOperations(queries, identity.id, 'node-replaced');
}

async function revokeCertificates(queries: Queries, uri: string, reason: RevocationReason): Promise<number> {
  const revoked = await queries
    .updateTable('certificates')
    .set({ revoked_at: now() })
    .where('identity', '=', uri)
    .where('revoked_at', 'is', null)
    .returning(['serial', 'expires_at'])
    .execute();
  for (const { serial, expires_at } of revoked)
    await addToList(queries, {
      kind: 'certificate',
      subject: serial,
      identity: uri,
      expires_at: new Date(Date.parse(expires_at) + renewalGraceMs).toISOString(),
      ...reasonRow(reason),
    });
  return revoked.length;
}

/** What the node's newest ramdisk signs with, also while nothing is heard of it: it may only be silent. Its keys live as long as the boot, far shorter than this entry of the list. */
async function revokeMachineKey(queries: Queries, nodeId: string, reason: RevocationReason): Promise<number> {
  const newest = await queries
    .selectFrom('node_joins')
    .select(['join_id', 'signing_key', 'lost_reason'])
    .where('node_id', '=', nodeId)
    .where('role', '=', 'ramdisk')
    .orderBy('at', 'desc')
    .orderBy('join_id', 'desc')
    .executeTakeFirst();
  const key = parseJson<{ x: string }>(newest?.signing_key ?? null);
  if (newest === undefined || key === undefined || newest.lost_reason === 'revoked') return 0;
  await queries
    .updateTable('node_joins')
    .set({ lost_at: now(), lost_reason: 'revoked' })
    .where('join_id', '=', newest.join_id)
    .execute();
  await addToList(queries, {
    kind: 'machine-key',
    subject: key.x,
    identity: `urn:railhead:node:${nodeId}`,
    expires_at: new Date(Date.now() + renewalGraceMs).toISOString(),
    ...reasonRow(reason),
  });
  return 1;
}

/**
 * Numbers grow with time, so that a list made after a restored backup still replaces those from before; and in the order in which the
 * entries can be read, so that nobody who has asked for the newest has missed one.
 */
export async function addToList(
  queries: Queries,
  entry: Omit<NewRow<'revocations'>, 'number'>,
): Promise<void> {
  await takeTurn(queries, 'revocations');
  const { last } = await queries
    .selectFrom('revocations')
    .select(({ fn }) => fn.max('number').as('last'))
    .executeTakeFirstOrThrow();
  const number = Math.max(Number(last ?? 0) + 1, Date.now());
  await queries
    .insertInto('revocations')
    .values({ number, ...entry })
    .execute();
}

function reasonRow({ why, by }: RevocationReason) {
  return { why, revoked_by: by, at: now() };
}

function neverJoined(name: string): RailheadError {
  const message = `no agent ${name} has joined: 'railhead central agents list' shows those that have`;
  return new RailheadError('NOT_FOUND', message, { path: 'agent', agent: name });
}

function revokedAlready(identity: string, revokedAt: string): RailheadError {
  const message = `${identity} was revoked at ${revokedAt} already`;
  return new RailheadError('INVALID_STATE', message, { reason: 'revoked', identity, revokedAt });
}
