import type { TLSSocket } from 'node:tls';
import type { FastifyRequest } from 'fastify';
import { uriNames } from '#base/certificateNames.ts';
import { RailheadError } from '#contract/errors.ts';
import { now, type Queries } from '../store/store.ts';

/** Who a verified client certificate says that its holder is. */
export interface AgentIdentity {
  role: 'site' | 'node';
  id: string;
}

export function identityUri(identity: AgentIdentity): string {
  return `urn:railhead:${identity.role}:${identity.id}`;
}

/** As causes of events name it. */
export function identityName({ role, id }: AgentIdentity): string {
  return `${role} ${id}`;
}

/** The identity in a certificate's subject alternative names as Node prints them; undefined without exactly one. */
export function identityInNames(subjectAltName: string): AgentIdentity | undefined {
  const uris = uriNames(subjectAltName).flatMap(
    (name) => /^urn:railhead:(site|node):([A-Za-z0-9._-]+)$/.exec(name) ?? [],
  );
  const [whole, role, id] = uris;
  if (whole === undefined || uris.length !== 3 || id === undefined) return undefined;
  return { role: role as AgentIdentity['role'], id };
}

/** An agent that has shown its certificate; `serial` as the books have it. */
export interface PresentedIdentity extends AgentIdentity {
  serial: string;
}

/**
 * The identity behind a request: the client certificate must come from the centre's CA and stand unrevoked in its books.
 * @throws RailheadError UNAUTHENTICATED (`certificate`, `expired`, `unknown`, `revoked`)
 */
export async function authenticateAgent(store: Queries, request: FastifyRequest): Promise<PresentedIdentity> {
  const { identity, serial } = presented(request.raw.socket as TLSSocket);
  await requireStanding(store, { ...identity, serial });
  return { ...identity, serial };
}

/**
 * Whether an agent that was let in may stay: asked at each request, since TLS looks at a certificate once for all that come by its
 * connection, and again while a long poll waits.
 * @throws RailheadError UNAUTHENTICATED (`expired`, `unknown`, `revoked`)
 */
export async function requireStanding(
  store: Queries,
  { serial, ...identity }: PresentedIdentity,
): Promise<void> {
  const known = await store
    .selectFrom('certificates')
    .leftJoin('agents', 'agents.identity', 'certificates.identity')
    .select(['certificates.identity', 'certificates.expires_at', 'certificates.revoked_at'])
    .select('agents.revoked_at as agent_revoked_at')
    .where('serial', '=', serial)
    .executeTakeFirst();
  if (known === undefined || known.identity !== identityUri(identity))
    throw unauthenticated('this certificate is not in the books of this centre: join again', 'unknown');
  if (known.revoked_at !== null || known.agent_revoked_at !== null)
    throw unauthenticated('this agent was revoked: join again with a new token', 'revoked');
  if (known.expires_at <= now()) throw expired();
}

function presented(socket: TLSSocket): { identity: AgentIdentity; serial: string } {
  if (String(socket.authorizationError) === 'CERT_HAS_EXPIRED') throw expired();
  const certificate = socket.authorized ? socket.getPeerCertificate() : undefined;
  const identity = identityInNames(certificate?.subjectaltname ?? '');
  if (certificate === undefined || identity === undefined)
    throw unauthenticated('present the client certificate that the join gave', 'certificate');
  return { identity, serial: certificate.serialNumber.toLowerCase().replace(/^0+/, '') };
}

/** @throws RailheadError FORBIDDEN when the agent is no site */
export function siteOf(identity: AgentIdentity): string {
  if (identity.role === 'site') return identity.id;
  throw new RailheadError('FORBIDDEN', 'only site agents ask for secrets', { reason: 'role' });
}

const expired = () => unauthenticated('this certificate has expired: renew it', 'expired');

function unauthenticated(message: string, reason: string): RailheadError {
  return new RailheadError('UNAUTHENTICATED', message, { reason });
}
