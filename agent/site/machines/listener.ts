import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Closable } from '#base/shutdown.ts';
import { RailheadError } from '#contract/errors.ts';
import type { Identity } from '../../join/identity.ts';
import { createDoor, listen } from '../http/door.ts';
import type { Session } from '../store/sessions.ts';
import { watchDeadlines } from './deadlines.ts';
import { joinMachine } from './join.ts';
import type { MachineParts } from './parts.ts';
import { pollMachine, type ToldCancels } from './poll.ts';
import { takeReport } from './report.ts';
import { requestToken } from './token.ts';

/** Opens the door for ramdisks: TLS with the site's certificate, on `where` (`address:port`). */
export async function openMachineListener(
  where: string,
  identity: Identity,
  parts: MachineParts,
): Promise<Closable> {
  const tls = { cert: identity.certificate, key: identity.privateKey, minVersion: 'TLSv1.3' as const };
  const door = createDoor({ log: parts.log, tls, bodyLimit: 256 * 1024 });
  const told = new Map<string, ToldCancels>();
  door.post('/v1/join', (request) => joinMachine(request.body, request.ip, parts));
  door.post('/v1/token', async (request) => requestToken(request.body, request.ip, parts));
  door.post('/v1/machine/poll', async (request, reply) => {
    const session = sessionOf(request, parts);
    const cancels = told.get(session.claimedBy) ?? new Set();
    told.set(session.claimedBy, cancels);
    return pollMachine(request.body, session, cancels, hangUp(reply), parts);
  });
  door.post('/v1/machine/report', async (request) => {
    await takeReport(request.body, sessionOf(request, parts), parts);
    return {};
  });
  await listen(door, where, 'machine.listen');
  const deadlines = watchDeadlines(parts);
  return {
    close: async () => {
      deadlines.close();
      await door.close();
    },
  };
}

/** @throws RailheadError UNAUTHENTICATED: the machine then joins again */
function sessionOf(request: FastifyRequest, { state }: MachineParts): Session {
  const bearer = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1];
  const session = bearer === undefined ? undefined : state.sessions.find(bearer);
  if (session !== undefined) return session;
  throw new RailheadError('UNAUTHENTICATED', 'no such session: join again', { reason: 'no-session' });
}

function hangUp(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}
