import { createPublicKey, type KeyObject } from 'node:crypto';
import { publicKeyFromJwk } from '#base/jws.ts';
import { RailheadError } from '#contract/errors.ts';
import { machineThumbprint, type OkpJwk, spkiPin } from '#contract/join.ts';
import { findAgent } from '../join/agents.ts';
import { parseJson, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';

/** Which agent of a machine an operation is for: the ramdisk of one join, or the agent of the OS that is installed. Its key must sign the result. */
export type Addressee = { target: 'ramdisk'; joinId: string } | { target: 'node' };

/**
 * What an operation is addressed by, so that no other agent carries it out.
 * @throws RailheadError INVALID_STATE, reason `no-node`, when no OS of the node has joined or it is revoked
 */
export async function machineOf(store: Queries, nodeId: string, to: Addressee): Promise<string> {
  if (to.target === 'ramdisk') return ramdiskThumbprint(store, to.joinId);
  const key = await nodeKey(store, nodeId);
  if (key !== undefined) return spkiPin(key);
  const message = `no OS of ${nodeId} has joined with an agent, or it is revoked: let 'bcd node' join there first`;
  throw new RailheadError('INVALID_STATE', message, { reason: 'no-node', nodeId });
}

/** The key that must have signed the result of an operation; undefined when there is none to believe. */
export async function resultKey(
  store: Queries,
  { target, node_id: nodeId, join_id: joinId }: Row<'operations'>,
): Promise<KeyObject | undefined> {
  if (target === 'node') return nodeKey(store, nodeId);
  if (joinId === null) return undefined;
  const join = await store
    .selectFrom('node_joins')
    .select('signing_key')
    .where('join_id', '=', joinId)
    .executeTakeFirst();
  const jwk = parseJson<OkpJwk>(join?.signing_key ?? null);
  return jwk && publicKeyFromJwk(jwk);
}

/** The key that the OS of a node joined by, which its certificates are for; undefined when it has not joined, or is revoked. */
async function nodeKey(store: Queries, nodeId: string): Promise<KeyObject | undefined> {
  const agent = await findAgent(store, { role: 'node', id: nodeId });
  return agent === undefined || agent.revoked_at !== null ? undefined : createPublicKey(agent.public_key);
}

async function ramdiskThumbprint(store: Queries, joinId: string): Promise<string> {
  const { signing_key, sealing_key } = await store
    .selectFrom('node_joins')
    .select(['signing_key', 'sealing_key'])
    .where('join_id', '=', joinId)
    .executeTakeFirstOrThrow();
  const key = (text: string | null) => JSON.parse(text ?? '{"x":""}') as OkpJwk;
  return machineThumbprint({ signingKey: key(signing_key), sealingKey: key(sealing_key) });
}
