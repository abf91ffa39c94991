import { createHash, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { compactDecrypt } from 'jose';
import { RailheadError } from '#contract/errors.ts';
import type { JoinRequest } from '#contract/join.ts';
import { identityUri } from '../agents/identity.ts';
import type { CentralContext } from '../context.ts';
import { nodeTopic } from '../signals.ts';
import { bookAgent, bookCertificate } from './agents.ts';
import { issueFor } from './authority.ts';
import { useJoinToken } from './joinTokens.ts';
import type { CentralKeys } from './keys.ts';
import { certificateValidMs } from './lifetimes.ts';
import { recordNodeJoin } from './nodeJoin.ts';
import { signedAdmission } from './response.ts';
import { replaceCertificates } from './revoke.ts';

/**
 * Lets a site or node in: its sealed token is used up, and its key gets a certificate. The answer is a JWS
 * (`railhead-join-response`) by a join signing key. Certificates of an earlier join by another key are revoked.
 * @throws RailheadError INVALID_INPUT for an unreadable token or request, UNAUTHENTICATED for a token that is not accepted
 */
export async function answerJoin(context: CentralContext, request: JoinRequest): Promise<string> {
  const token = await unsealToken(context.keys, request.token);
  const identity = { role: request.role, id: request.nodeId };
  const subject = { uri: identityUri(identity), validMs: certificateValidMs };
  const issued = await issueFor(context.keys.authority, request.csr, subject);
  if (issued === undefined) throw unusableRequest();
  const publicKey = certifiedKey(issued.certificate);
  await context.store.transaction().execute(async (queries) => {
    const usedBy = keyThumbprint(publicKey);
    const used = await useJoinToken(queries, token, { role: request.role, nodeId: request.nodeId, usedBy });
    await replaceCertificates(queries, identity, publicKey);
    const { sealingKey } = request;
    await bookAgent(queries, { identity, publicKey, sealingKey, trustNumber: context.keys.number });
    await bookCertificate(queries, identity, issued);
    if (request.role === 'node') await recordNodeJoin(queries, used);
  });
  context.log.info({ role: request.role, nodeId: request.nodeId, version: request.version }, 'joined');
  context.signals.notify(nodeTopic(request.nodeId));
  const signedBy = request.signedBy === undefined ? [] : [request.signedBy];
  return signedAdmission(context.keys, { identity, issued, counter: 0, signedBy });
}

/** The token may be sealed to a key that a rotation has replaced since it was handed out. */
async function unsealToken({ joinEncryption, older }: CentralKeys, sealed: string): Promise<string> {
  const keys = [joinEncryption, ...older.joinEncryption];
  try {
    return await Promise.any(keys.map((key) => unseal(sealed, key)));
  } catch (error) {
    const message = 'token must be the join token sealed (JWE, ECDH-ES) to the join encryption key';
    throw new RailheadError('INVALID_INPUT', message, { path: 'token' }, error);
  }
}

async function unseal(sealed: string, key: KeyObject): Promise<string> {
  const { plaintext } = await compactDecrypt(sealed, key, {
    keyManagementAlgorithms: ['ECDH-ES'],
    contentEncryptionAlgorithms: ['A256GCM', 'A128GCM'],
  });
  return new TextDecoder().decode(plaintext);
}

export function unusableRequest(): RailheadError {
  const message = 'csr must be a PKCS#10 request (PEM) of an ECDSA P-256 key, signed by that key';
  return new RailheadError('INVALID_INPUT', message, { path: 'csr' });
}

/** SPKI, PEM. */
export function certifiedKey(certificate: string): string {
  return new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'pem' }) as string;
}

function keyThumbprint(publicKey: string): string {
  const spki = createPublicKey(publicKey).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(spki).digest('hex');
}
