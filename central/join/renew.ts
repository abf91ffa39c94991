import { createPublicKey } from 'node:crypto';
import { decodeJwt } from 'jose';
import { verifyDocument } from '#base/jws.ts';
import { RailheadError } from '#contract/errors.ts';
import { newId } from '#contract/ids.ts';
import { Renewal } from '#contract/join.ts';
import { validate } from '#contract/validate.ts';
import { type AgentIdentity, identityUri } from '../agents/identity.ts';
import { raiseAlarm } from '../alarms.ts';
import type { CentralContext } from '../context.ts';
import { now, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { takeTurn } from '../store/turns.ts';
import { bookCertificate, findAgent } from './agents.ts';
import { type IssuedCertificate, issueFor } from './authority.ts';
import { decideRenewal, type RenewalDecision } from './decideRenewal.ts';
import { publicPem, unusableRequest, usableKeys } from './join.ts';
import { certificateValidMs } from './lifetimes.ts';
import { signedAdmission } from './response.ts';
import { revokeWithin } from './revoke.ts';

/**
 * Gives an agent a new certificate on the proof of its key, whether the old one still holds or not. Its counter tells a copied disk:
 * then the agent is revoked and there is an alarm.
 * @throws RailheadError UNAUTHENTICATED (`unknown`, `proof`, `revoked`, `expired`, `clock`, `copied`), INVALID_INPUT
 */
export async function answerRenewal(context: CentralContext, proof: string): Promise<string> {
  const { agent, renewal } = await provenAgent(context.store, proof);
  const key = await usableKeys(renewal);
  if (publicPem(key) !== agent.public_key) throw unusableRequest();
  const identity = { role: agent.role, id: agent.agent_id };
  const subject = { uri: agent.identity, validMs: certificateValidMs };
  const issued = await issueFor(context.keys.authority, key, subject);
  const decision = await context.store.transaction().execute(async (queries) => {
    const decided = await bookRenewal(queries, identity, renewal, issued);
    // With the decision: a copy that is revoked is one that an operator hears of, whatever happens in between.
    if (decided.kind === 'copied') await revokeCopied(queries, identity, renewal.counter);
    return decided;
  });
  if (decision.kind === 'copied') throw copied(context, identity, renewal.counter);
  if (decision.kind === 'refuse')
    throw new RailheadError(decision.code, decision.message, { reason: decision.reason });
  context.log.info({ ...identity, counter: renewal.counter, decision: decision.kind }, 'certificate renewed');
  const { counter, signedBy } = renewal;
  return signedAdmission(context.keys, { identity, issued, counter, signedBy });
}

async function provenAgent(
  store: Queries,
  proof: string,
): Promise<{ agent: Row<'agents'>; renewal: Renewal }> {
  const claimed = validate(Renewal, unverified(proof));
  const agent = await findAgent(store, { role: claimed.role, id: claimed.nodeId });
  if (agent === undefined) throw refused('unknown', 'no such agent has joined here: join with a token');
  try {
    await verifyDocument('railhead-renewal', proof, createPublicKey(agent.public_key));
  } catch (error) {
    throw refused(
      'proof',
      "the renewal is not signed by the agent's key: join again with a new token",
      error,
    );
  }
  return { agent, renewal: claimed };
}

/** Who it says that it is from; nothing is believed before its signature by that agent's key holds. */
function unverified(proof: string): unknown {
  try {
    return decodeJwt(proof);
  } catch (error) {
    throw new RailheadError('INVALID_INPUT', 'proof must be a compact JWS', { path: 'proof' }, error);
  }
}

async function bookRenewal(
  queries: Queries,
  identity: AgentIdentity,
  renewal: Renewal,
  issued: IssuedCertificate,
): Promise<RenewalDecision> {
  await takeTurn(queries, identityUri(identity));
  const agent = await findAgent(queries, identity);
  if (agent === undefined) throw refused('unknown', 'no such agent has joined here: join with a token');
  const expiresAt = await newestExpiry(queries, agent.identity);
  const decision = decideRenewal(agent, renewal, { expiresAt, now: Date.now() });
  if (decision.kind !== 'renew' && decision.kind !== 'repeat') return decision;
  const { counter, nonce, sealingKey } = renewal;
  const { numUpdatedRows } = await queries
    .updateTable('agents')
    .set({
      counter,
      renewal: nonce,
      renewed_at: now(),
      sealing_key: JSON.stringify(sealingKey),
    })
    .where('identity', '=', agent.identity)
    .where('counter', '=', agent.counter)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) return bookRenewal(queries, identity, renewal, issued);
  await bookCertificate(queries, identity, issued);
  return decision;
}

async function newestExpiry(queries: Queries, identity: string): Promise<number> {
  const newest = await queries
    .selectFrom('certificates')
    .select('expires_at')
    .where('identity', '=', identity)
    .orderBy('expires_at', 'desc')
    .executeTakeFirst();
  return Date.parse(newest?.expires_at ?? '');
}

/** Two disks hold one key, and which of them is the thief's cannot be told from here: neither is let in again. */
async function revokeCopied(queries: Queries, identity: AgentIdentity, counter: number): Promise<void> {
  const why = copiedWhy(counter);
  await revokeWithin(queries, identity, { why, by: 'centre' });
  const place = await placeOf(queries, identity);
  // A node that is gone has no record to show an alarm in.
  if (place === undefined) return;
  const text = `${identity.role} ${identity.id}: ${why}`;
  await raiseAlarm(queries, { alarmId: newId('ev'), at: now(), ...place, reason: 'copied', text });
}

function copiedWhy(counter: number): string {
  return `renewal ${counter} was asked for twice: its disk was copied, or restored from a backup`;
}

function copied({ log }: CentralContext, identity: AgentIdentity, counter: number): RailheadError {
  const why = copiedWhy(counter);
  log.error({ ...identity, counter }, `${why}; it is revoked`);
  return refused('copied', `${why}; it is revoked: find the copy, then join again with a new token`);
}

/** The site whose record shows it, and the node's. */
async function placeOf(
  store: Queries,
  { role, id }: AgentIdentity,
): Promise<{ siteId: string; nodeId?: string } | undefined> {
  if (role === 'site') return { siteId: id };
  const node = await store.selectFrom('nodes').select('site_id').where('node_id', '=', id).executeTakeFirst();
  return node && { siteId: node.site_id, nodeId: id };
}

function refused(reason: string, message: string, cause?: unknown): RailheadError {
  return new RailheadError('UNAUTHENTICATED', message, { reason }, cause);
}
