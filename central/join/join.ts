import { createHash, createPublicKey, X509Certificate } from 'node:crypto';
import { compactDecrypt } from 'jose';
import { signDocument } from '#base/jws.ts';
import { protocolVersion } from '#contract/agentWire.ts';
import { RailheadError } from '#contract/errors.ts';
import type { JoinRequest, JoinResponse } from '#contract/join.ts';
import { identityUri } from '../agents/identity.ts';
import type { CentralContext } from '../context.ts';
import { nodeTopic } from '../signals.ts';
import { bookAgent, bookCertificate } from './agents.ts';
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
  const identity = { role: request.role, id: request.nodeId };
  const subject = { uri: identityUri(identity), validMs: certificateValidMs };
  const issued = await issueFor(context.keys.authority, request.csr, subject);
  if (issued === undefined) throw unusableRequest();
  const publicKey = certifiedKey(issued);
  await context.store.transaction().execute(async (queries) => {
    const usedBy = keyThumbprint(publicKey);
    const used = await useJoinToken(queries, token, { role: request.role, nodeId: request.nodeId, usedBy });
    await bookAgent(queries, { identity, publicKey, sealingKey: request.sealingKey });
    await bookCertificate(queries, identity, issued);
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

/** SPKI, PEM. */
function certifiedKey({ certificate }: IssuedCertificate): string {
  return new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'pem' }) as string;
}

function keyThumbprint(publicKey: string): string {
  const spki = createPublicKey(publicKey).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(spki).digest('hex');
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
