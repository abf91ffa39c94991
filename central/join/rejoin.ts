import Type, { type Static } from 'typebox';
import type { CentralContext } from '../context.ts';
import { nodeTopic } from '../signals.ts';
import { useJoinToken } from './joinTokens.ts';
import { recordNodeJoin } from './nodeJoin.ts';

/** `POST /v1/rejoin`: the least announcement, for an OS without `bcd`. */
export const RejoinRequest = Type.Object(
  { token: Type.String({ minLength: 1, maxLength: 256 }), nodeId: Type.String({ maxLength: 128 }) },
  { additionalProperties: false },
);
export type RejoinRequest = Static<typeof RejoinRequest>;

/**
 * Takes the announcement of an OS that has nothing but its provisioned token: the token is used up and the workflow
 * that waits for this OS goes on. No certificate is given. A repeated announcement is answered alike.
 * @throws RailheadError UNAUTHENTICATED when the token is not accepted for this node
 */
export async function answerRejoin(
  { store, signals }: CentralContext,
  { token, nodeId }: RejoinRequest,
): Promise<{ nodeId: string }> {
  await store.transaction().execute(async (queries) => {
    const claim = { role: 'node', nodeId, usedBy: `rejoin:${nodeId}` } as const;
    const { row, isFirst } = await useJoinToken(queries, token, claim);
    if (isFirst) await recordNodeJoin(queries, row);
  });
  signals.notify(nodeTopic(nodeId));
  return { nodeId };
}
