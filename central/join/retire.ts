import { setTimeout as sleep } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import type { BootEntry } from '#contract/bootEntry.ts';
import { RailheadError } from '#contract/errors.ts';
import { renewalGraceMs } from '#contract/join.ts';
import { resealAll } from '../store/resealing.ts';
import { now, type Queries, type Store } from '../store/store.ts';
import { type KeyUse, readRing } from './keyRing.ts';
import { openKeys } from './keys.ts';
import { dropOlderKeys, overlapSince } from './rotation.ts';

/** By then a running centre has taken up a new key, in milliseconds after the rotation. */
const takenUpMs = 3_000;
/** Details name this many agents at most. */
const mostNamed = 20;

/** Who still needs the key that a rotation replaced. */
export interface KeyNeeds {
  /** Agents that do not know the newest keys yet, or whose certificate the older CA issued. */
  agents: string[];
  /** Join tokens, not used yet, that were handed out with the older key's pin. */
  joinTokens: number;
  /** Operations, not ended yet, and boot entries, not ended yet, that the older key signed. */
  operations: number;
  bootEntries: number;
}

/**
 * Ends the acceptance of the older key of a use. What `at-rest` encrypted is encrypted anew before.
 * @throws RailheadError INVALID_STATE: `no-older`, or `in-use` while somebody needs the older key and `force` is not set
 */
export async function retireKey(store: Store, directory: string, use: KeyUse, force: boolean) {
  const since = await overlapSince(directory, use);
  const needs = await keyNeeds(store, use, since, (await readRing(directory)).number);
  const isNeeded = needs.agents.length + needs.joinTokens + needs.operations + needs.bootEntries > 0;
  if (isNeeded && !force) throw stillNeeded(use, needs);
  await sleep(Math.max(0, Date.parse(since) + takenUpMs - Date.now()));
  const resealed = use === 'at-rest' ? await resealNow(store, directory) : 0;
  const { number } = await dropOlderKeys(directory, use);
  return { use, number, ...(use === 'at-rest' ? { resealed } : { stranded: needs }) };
}

async function resealNow(store: Store, directory: string): Promise<number> {
  const { atRest, older } = await openKeys(directory);
  return resealAll(store, [atRest, ...older.atRest]);
}

/** `number` is that of the newest list of keys. */
export async function keyNeeds(
  store: Queries,
  use: KeyUse,
  since: string,
  number: number,
): Promise<KeyNeeds> {
  const none: KeyNeeds = { agents: [], joinTokens: 0, operations: 0, bootEntries: 0 };
  if (use === 'at-rest') return none;
  const joinTokens = await tokensBefore(store, since);
  if (use === 'join-encryption') return { ...none, joinTokens };
  const agents = await agentsBehind(store, number, use === 'authority' ? since : undefined);
  if (use === 'authority') return { ...none, joinTokens, agents };
  const operations = await operationsBefore(store, since);
  return { agents, joinTokens, operations, bootEntries: await entriesBefore(store, since) };
}

/** Those that could still come back: unrevoked, and not past the time in which they may renew. */
async function agentsBehind(
  store: Queries,
  number: number,
  certifiedSince: string | undefined,
): Promise<string[]> {
  const returning = new Date(Date.now() - renewalGraceMs).toISOString();
  const rows = await store
    .selectFrom('agents')
    .innerJoin('certificates', 'certificates.identity', 'agents.identity')
    .select(({ fn }) => [
      'agents.identity',
      'agents.trust_number',
      fn.max('certificates.issued_at').as('issued_at'),
    ])
    .where('agents.revoked_at', 'is', null)
    .where('certificates.expires_at', '>', returning)
    .groupBy(['agents.identity', 'agents.trust_number'])
    .orderBy('agents.identity')
    .execute();
  const isBehind = (row: (typeof rows)[number]) =>
    row.trust_number < number || (certifiedSince !== undefined && row.issued_at < certifiedSince);
  return rows.filter(isBehind).map(({ identity }) => identity);
}

async function tokensBefore(store: Queries, since: string): Promise<number> {
  const { count } = await store
    .selectFrom('join_tokens')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('created_at', '<', since)
    .where('expires_at', '>', now())
    .where('used_at', 'is', null)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

async function operationsBefore(store: Queries, since: string): Promise<number> {
  const { count } = await store
    .selectFrom('operations')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('created_at', '<', since)
    .where('expires_at', '>', now())
    .where('outcome', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

async function entriesBefore(store: Queries, since: string): Promise<number> {
  const rows = await store
    .selectFrom('boot_entries')
    .select('entry')
    .where('expires_at', '>', now())
    .execute();
  return rows.filter(({ entry }) => (decodeJwt<BootEntry>(entry).issuedAt as string) < since).length;
}

function stillNeeded(use: KeyUse, { agents, ...counts }: KeyNeeds): RailheadError {
  const message = `the older ${use} key is still needed: wait until nobody needs it, or strand them with --force`;
  return new RailheadError('INVALID_STATE', message, {
    reason: 'in-use',
    use,
    agents: agents.slice(0, mostNamed),
    agentCount: agents.length,
    ...counts,
  });
}
