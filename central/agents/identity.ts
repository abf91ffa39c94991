import type { TLSSocket } from 'node:tls';
import type { FastifyRequest } from 'fastify';
import { RailheadError } from '#contract/errors.ts';
import type { Queries } from '../store/store.ts';

/** Who a verified client certificate says that its holder is. */
export interface AgentIdentity {
  role: 'site' | 'node';
  id: string;
}

export function identityUri(identity: AgentIdentity): string {
  return `urn:railhead:${identity.role}:${identity.id}`;
}

/** The identity in a certificate's subject alternative names as Node prints them; undefined without exactly one. */
export function identityInNames(subjectAltName: string): AgentIdentity | undefined {
  const uris = subjectAltName
    .split(', ')
    .flatMap((name) => /^URI:urn:railhead:(site|node):([A-Za-z0-9._-]+)$/.exec(name) ?? []);
  const [whole, role, id] = uris;
  if (whole === undefined || uris.length !== 3 || id === undefined) return undefined;
  return { role: role as AgentIdentity['role'], id };
}

/**
 * The identity behind a request: the client certificate must come from the centre's CA and stand unrevoked in its books.
 * @throws RailheadError UNAUTHENTICATED
 */
export async function authenticateAgent(store: Queries, request: FastifyRequest): Promise<AgentIdentity> {
  const socket = request.raw.socket as TLSSocket;
  const certificate = socket.authorized ? socket.getPeerCertificate() : undefined;
  const identity = identityInNames(certificate?.subjectaltname ?? '');
  if (certificate === undefined || identity === undefined)
    throw unauthenticated('present the client certificate that the join gave', 'certificate');
  const serial = certificate.serialNumber.toLowerCase().replace(/^0+/, '');
  const known = await store
    .selectFrom('certificates')
    .selectAll()
    .where('serial', '=', serial)
    .executeTakeFirst();
  if (known === undefined || known.revoked_at !== null || known.identity !== identityUri(identity))
    throw unauthenticated('this certificate was revoked: join again with a new token', 'revoked');
  return identity;
}

/** @throws RailheadError FORBIDDEN when the agent is no site */
export function siteOf(identity: AgentIdentity): string {
  if (identity.role === 'site') return identity.id;
  throw new RailheadError('FORBIDDEN', 'only site agents report here', { reason: 'role' });
}

function unauthenticated(message: string, reason: string): RailheadError {
  return new RailheadError('UNAUTHENTICATED', message, { reason });
}
