import type { FastifyRequest } from 'fastify';
import { RailheadError } from '#contract/errors.ts';
import { goneSignal } from '#doors/goneSignal.ts';
import { anyone, type Route, route } from '#doors/routes.ts';
import { refuseRevoked } from '../../join/revocations.ts';
import type { Session } from '../store/sessions.ts';
import { imageRoutes } from './imageRoutes.ts';
import { joinMachine } from './join.ts';
import type { MachineParts } from './parts.ts';
import { pollMachine, type Told } from './poll.ts';
import { takeReport } from './report.ts';
import { giveSecret } from './secret.ts';
import { requestToken } from './token.ts';

/** Everything that the machine listener serves. Who has not joined may only ask for a boot token and show it. */
export function machineRoutes(parts: MachineParts): Route[] {
  const told = toldMachines();
  const session = (request: FastifyRequest) => sessionOf(request, parts);
  return [
    route({
      method: 'POST',
      path: '/v1/join',
      admit: anyone,
      answer: ({ body, ip, socket }) =>
        joinMachine(body, { peer: ip, reachedAt: socket.localAddress }, parts),
    }),
    route({
      method: 'POST',
      path: '/v1/token',
      admit: anyone,
      answer: ({ body, ip }) => requestToken(body, ip, parts),
    }),
    route({
      method: 'POST',
      path: '/v1/machine/poll',
      admit: session,
      answer: ({ body }, caller, reply) => pollMachine(body, caller, told(caller), goneSignal(reply), parts),
    }),
    route({
      method: 'POST',
      path: '/v1/machine/secret',
      admit: session,
      answer: ({ body }, caller) => giveSecret(body, caller, parts),
    }),
    ...imageRoutes(parts, session),
    route({
      method: 'POST',
      path: '/v1/machine/report',
      admit: session,
      answer: async ({ body }, caller) => {
        await takeReport(body, caller, parts);
        return {};
      },
    }),
  ];
}

/** What each machine has been told: of a node, those of its newest joined alone are kept. */
function toldMachines(): (session: Session) => Told {
  const byNode = new Map<string, Told & { claimedBy: string }>();
  return ({ nodeId, claimedBy }) => {
    const known = byNode.get(nodeId);
    if (known?.claimedBy === claimedBy) return known;
    const told = { claimedBy, cancels: new Set<string>() };
    byNode.set(nodeId, told);
    return told;
  };
}

/** @throws RailheadError UNAUTHENTICATED: the machine then joins again; FORBIDDEN (`revoked`) */
function sessionOf(request: FastifyRequest, { state, revocations }: MachineParts): Session {
  const bearer = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1];
  const session = bearer === undefined ? undefined : state.sessions.find(bearer);
  if (session === undefined)
    throw new RailheadError('UNAUTHENTICATED', 'no such session: join again', { reason: 'no-session' });
  refuseRevoked(revocations, 'machine-key', session.signingKey.x);
  return session;
}
