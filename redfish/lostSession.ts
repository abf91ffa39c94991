import Type, { type Static } from 'typebox';
import { type Answer, isSuccess } from './answers.ts';
import { asObject, type JsonObject } from './json.ts';
import type { Exchange } from './transport.ts';

/** A session that is open, as it is remembered over restarts: its token is not. */
export const OpenSession = Type.Object(
  {
    path: Type.String({ maxLength: 512 }),
    /** The BMC's `CreatedTime`, as it writes it. */
    createdAt: Type.Optional(Type.String({ maxLength: 64 })),
  },
  { additionalProperties: false },
);
export type OpenSession = Static<typeof OpenSession>;

/** What is to be remembered of a session that has just been opened; undefined when it could be taken for another one later. */
export function openSession(path: string, { CreatedTime: createdAt }: JsonObject): OpenSession | undefined {
  if (typeof createdAt === 'string') return { path, createdAt };
  // BMCs that count their sessions begin at 1 again when they restart: the next bearer of the number is somebody else.
  return /\/\d{1,9}\/?$/.test(path) ? undefined : { path };
}

/**
 * Ends a session that an agent which was killed has left behind: BMCs have few (iDRAC: 8), and an agent that is killed again and again
 * would use them up until their time-outs (30 minutes and more). It is read first: another user's, or one made at another time, stays.
 */
export async function endLostSession(
  lost: OpenSession,
  username: string,
  send: (exchange: Exchange) => Promise<Answer>,
): Promise<void> {
  const found = await send({ method: 'GET', path: lost.path });
  const { UserName, CreatedTime } = asObject(found.body);
  if (!isSuccess(found) || UserName !== username || CreatedTime !== lost.createdAt) return;
  await send({ method: 'DELETE', path: lost.path });
}
