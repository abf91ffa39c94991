import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { peerUser } from '#base/libc.ts';
import { RailheadError } from '#contract/errors.ts';

/** Who came over the local socket. */
export interface LocalUser {
  uid: number;
}

/**
 * The local socket is for root and the agent's own user, whatever the mode of its file says: the kernel tells who is at its other end.
 * @throws RailheadError FORBIDDEN for anybody else
 */
export function localUser({ raw }: Pick<FastifyRequest, 'raw'>): LocalUser {
  const uid = peerUser(descriptorOf(raw.socket));
  if (uid === 0 || uid === process.getuid?.()) return { uid };
  throw new RailheadError('FORBIDDEN', "this socket is for root and the agent's own user", {
    reason: 'local-user',
    uid,
  });
}

/** Node keeps the descriptor of a socket to itself. */
function descriptorOf(socket: Socket): number {
  return (socket as Socket & { _handle: { fd: number } })._handle.fd;
}
