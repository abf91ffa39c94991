import { RailheadError } from '#contract/errors.ts';
import type { SealingJwk } from '#contract/join.ts';
import { type AgentIdentity, identityUri } from '../agents/identity.ts';
import { present } from '../nodes.ts';
import { now, parseJson, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import type { IssuedCertificate } from './authority.ts';

export interface JoinedAgent {
  identity: AgentIdentity;
  /** SPKI, PEM. */
  publicKey: string;
  sealingKey: SealingJwk | undefined;
  /** The list of the centre's keys that the join gives it. */
  trustNumber: number;
  /** When its token was used: tells this join from every other. */
  joinedAt: string;
}

/** Notes an agent's join. What an earlier join of the same identity left, its counter and its revocation, ends with it. */
export async function bookAgent(queries: Queries, agent: JoinedAgent): Promise<void> {
  const { role, id } = agent.identity;
  const fresh = {
    public_key: agent.publicKey,
    sealing_key: agent.sealingKey === undefined ? null : JSON.stringify(agent.sealingKey),
    counter: 0,
    renewal: null,
    joined_at: agent.joinedAt,
    renewed_at: null,
    trust_number: agent.trustNumber,
    revoked_at: null,
    revoked_why: null,
  };
  await queries
    .insertInto('agents')
    .values({ identity: identityUri(agent.identity), role, agent_id: id, ...fresh })
    .onConflict((conflict) => conflict.column('identity').doUpdateSet(fresh))
    .execute();
}

export async function bookCertificate(
  queries: Queries,
  identity: AgentIdentity,
  issued: IssuedCertificate,
): Promise<void> {
  await queries
    .insertInto('certificates')
    .values({
      serial: issued.serial,
      identity: identityUri(identity),
      issued_at: now(),
      expires_at: issued.expiresAt.toISOString(),
      revoked_at: null,
    })
    .execute();
}

export function findAgent(store: Queries, identity: AgentIdentity): Promise<Row<'agents'> | undefined> {
  return store
    .selectFrom('agents')
    .selectAll()
    .where('identity', '=', identityUri(identity))
    .executeTakeFirst();
}

/**
 * The key that secrets for an agent are sealed to (X25519).
 * @throws RailheadError INVALID_STATE when it has not joined with one, or is revoked
 */
export async function agentSealingKey(store: Queries, identity: AgentIdentity): Promise<SealingJwk> {
  const agent = await findAgent(store, identity);
  const key = parseJson<SealingJwk>(agent?.sealing_key ?? null);
  if (agent !== undefined && agent.revoked_at === null && key !== undefined) return key;
  const { role, id } = identity;
  throw new RailheadError(
    'INVALID_STATE',
    `${role} ${id} has no key to seal to: it joins again with a new token`,
    {
      reason: agent?.revoked_at == null ? 'sealing-key' : 'revoked',
      role,
      id,
    },
  );
}

/** Every agent that has joined, as people are shown it. */
export async function listAgents(store: Queries) {
  const agents = await store.selectFrom('agents').selectAll().orderBy('identity').execute();
  const ends = await newestEnds(store, undefined);
  return agents.map((agent) => ({
    role: agent.role,
    id: agent.agent_id,
    ...presentStanding(agent, ends.get(agent.identity)),
  }));
}

/** How an agent's identity stands, for the record of its site or node; undefined before it has joined. */
export async function agentStanding(store: Queries, identity: AgentIdentity) {
  const agent = await findAgent(store, identity);
  if (agent === undefined) return undefined;
  const ends = await newestEnds(store, agent.identity);
  return presentStanding(agent, ends.get(agent.identity));
}

/** When the newest unrevoked certificate of each agent, or of one, ends. */
async function newestEnds(store: Queries, identity: string | undefined): Promise<Map<string, string>> {
  let query = store
    .selectFrom('certificates')
    .select(({ fn }) => ['identity', fn.max('expires_at').as('expires_at')])
    .where('revoked_at', 'is', null)
    .groupBy('identity');
  if (identity !== undefined) query = query.where('identity', '=', identity);
  return new Map((await query.execute()).map((row) => [row.identity, row.expires_at]));
}

function presentStanding(agent: Row<'agents'>, certificateExpiresAt: string | undefined) {
  return {
    joinedAt: agent.joined_at,
    renewals: agent.counter,
    ...present({
      renewedAt: agent.renewed_at,
      certificateExpiresAt,
      revokedAt: agent.revoked_at,
      revokedWhy: agent.revoked_why,
    }),
  };
}
