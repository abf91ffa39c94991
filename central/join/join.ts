import { createHash, X509Certificate } from 'node:crypto';
import { compactDecrypt } from 'jose';
import { signDocument } from '#base/jws.ts';
import { protocolVersion } from '#contract/agentWire.ts';
import { RailheadError } from '#contract/errors.ts';
import type { JoinRequest, JoinResponse } from '#contract/join.ts';
import { identityUri } from '../agents/identity.ts';
import type { CentralContext } from '../context.ts';
import { nodeTopic } from '../signals.ts';
import { now, type Queries } from '../store/store.ts';
import { type IssuedCertificate, issueFor } from './authority.ts';
import { useJoinToken } from './joinTokens.ts';
import { recordNodeJoin } from './nodeJoin.ts';

const certificateValidMs = 90 * 24 * 3_600_000;

/**
 * Lets a site or node in: its sealed token is used up, and its key gets a certificate. The answer is a JWS
 * (`railhead-join-response`) by the join signing key.
 * @throws RailheadError INVALID_INPUT for an unreadable token or request, UNAUTHENTICATED for a token that is not accepted
 */
export async function answerJoin(context: CentralContext, request: JoinRequest): Promise<string> {
  const token = await unsealToken(context, request.token);
  const uri = identityUri({ role: request.role, id: request.nodeId });
  const issued = await issueFor(context.keys.authority, request.csr, { uri, validMs: certificateValidMs });
  if (issued === undefined) throw unusableRequest();
  await context.store.transaction().execute(async (queries) => {
    const usedBy = keyThumbprint(issued.certificate);
    const used = await useJoinToken(queries, token, { role: request.role, nodeId: request.nodeId, usedBy });
    await bookCertificate(queries, uri, issued);
    if (request.role === 'node') await recordNodeJoin(queries, used);
  });
  context.log.info({ role: request.role, nodeId: request.nodeId, version: request.version }, 'joined');
  context.signals.notify(nodeTopic(request.nodeId));
  return signDocument('railhead-join-response', joinResponse(context, request, issued), context.keys.signing);
}

async function unsealToken({ keys }: CentralContext, sealed: string): Promise<string> {
  try {
    const { plaintext } = await compactDecrypt(sealed, keys.joinEncryption, {
      keyManagementAlgorithms: ['ECDH-ES'],
      contentEncryptionAlgorithms: ['A256GCM', 'A128GCM'],
    });
    return new TextDecoder().decode(plaintext);
  } catch (error) {
    const message = 'token must be the join token sealed (JWE, ECDH-ES) to the join encryption key';
    throw new RailheadError('INVALID_INPUT', message, { path: 'token' }, error);
  }
}

function unusableRequest(): RailheadError {
  const message = 'csr must be a PKCS#10 request (PEM) of an ECDSA P-256 key, signed by that key';
  return new RailheadError('INVALID_INPUT', message, { path: 'csr' });
}

function keyThumbprint(certificate: string): string {
  const spki = new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(spki).digest('hex');
}

async function bookCertificate(queries: Queries, identity: string, issued: IssuedCertificate): Promise<void> {
  await queries
    .insertInto('certificates')
    .values({
      serial: issued.serial,
      identity,
      issued_at: now(),
      expires_at: issued.expiresAt.toISOString(),
      revoked_at: null,
    })
    .execute();
}

function joinResponse(
  { keys }: CentralContext,
  request: JoinRequest,
  issued: IssuedCertificate,
): JoinResponse {
  const ca = keys.authority.certificate;
  return {
    protocol: protocolVersion,
    role: request.role,
    nodeId: request.nodeId,
    certificate: `${issued.certificate.trim()}\n${ca}`,
    ca,
    expiresAt: issued.expiresAt.toISOString(),
  };
}
