import { createHash, createPublicKey, KeyObject, type webcrypto } from 'node:crypto';
import { canSealTo } from '#base/jwe.ts';
import { publicKeyFromJwk } from '#base/jws.ts';
import { RailheadError } from '#contract/errors.ts';
import type { JoinRequest } from '#contract/join.ts';
import { identityUri } from '../agents/identity.ts';
import type { CentralContext } from '../context.ts';
import { nodeTopic } from '../signals.ts';
import { now, type Queries } from '../store/store.ts';
import { takeTurn } from '../store/turns.ts';
import { bookAgent, bookCertificate, findAgent, type JoinedAgent } from './agents.ts';
import { type IssuedCertificate, issueFor, requestedKey } from './authority.ts';
import { decideAdmission } from './decideAdmission.ts';
import { checkJoinToken, type JoinClaim, tokenRefused, useJoinToken } from './joinTokens.ts';
import { certificateValidMs } from './lifetimes.ts';
import { recordNodeJoin } from './nodeJoin.ts';
import { signedAdmission } from './response.ts';
import { replaceAgent } from './revoke.ts';
import { openJoinToken } from './sealedToken.ts';

/**
 * Lets a site or node in: its sealed token is used up, and its key gets a certificate. The answer is a JWS
 * (`railhead-join-response`) by a join signing key. Certificates of an earlier join by another key are revoked.
 * @throws RailheadError INVALID_INPUT for an unreadable token or request, UNAUTHENTICATED for a token that is not accepted
 */
export async function answerJoin(context: CentralContext, request: JoinRequest): Promise<string> {
  const { role, nodeId, sealingKey, version } = request;
  const token = await openJoinToken(context.keys, request);
  const key = await usableKeys(request);
  const publicKey = publicPem(key);
  const claim = { role, nodeId, usedBy: keyThumbprint(publicKey) };
  await checkJoinToken(context.store, token, claim);
  const identity = { role, id: nodeId };
  const subject = { uri: identityUri(identity), validMs: certificateValidMs };
  const issued = await issueFor(context.keys.authority, key, subject);
  const { number: trustNumber } = context.keys;
  const agent = { identity, publicKey, sealingKey, trustNumber };
  const kind = await context.store
    .transaction()
    .execute((queries) => bookJoin(queries, { token, claim, agent, issued }));
  context.log.info({ role, nodeId, version, kind }, 'joined');
  context.signals.notify(nodeTopic(nodeId));
  const signedBy = request.signedBy === undefined ? [] : [request.signedBy];
  return signedAdmission(context.keys, { identity, issued, counter: 0, signedBy });
}

interface Join {
  token: string;
  claim: JoinClaim;
  agent: Omit<JoinedAgent, 'joinedAt'>;
  issued: IssuedCertificate;
}

async function bookJoin(queries: Queries, { token, claim, agent, issued }: Join): Promise<'join' | 'repeat'> {
  const { identity, publicKey } = agent;
  await takeTurn(queries, identityUri(identity));
  const former = await findAgent(queries, identity);
  const { row, isFirst } = await useJoinToken(queries, token, claim);
  const decision = decideAdmission(former, agent, { isUsed: !isFirst, usedAt: row.used_at });
  if (decision.kind === 'refuse') throw tokenRefused(decision.reason);
  if (decision.kind === 'join') {
    if (former !== undefined && former.public_key !== publicKey) await replaceAgent(queries, identity);
    await bookAgent(queries, { ...agent, joinedAt: row.used_at ?? now() });
    if (claim.role === 'node') await recordNodeJoin(queries, row);
  }
  await bookCertificate(queries, identity, issued);
  return decision.kind;
}

/** The key of the request for a certificate, once both of the agent's keys can be used. */
export async function usableKeys({
  csr,
  sealingKey,
}: Pick<JoinRequest, 'csr' | 'sealingKey'>): Promise<webcrypto.CryptoKey> {
  if (sealingKey !== undefined && !canSealTo(publicKeyFromJwk(sealingKey)))
    throw new RailheadError('INVALID_INPUT', 'sealingKey must be an X25519 key that can be sealed to', {
      path: 'sealingKey',
    });
  const key = await requestedKey(csr);
  if (key === undefined) throw unusableRequest();
  return key;
}

export function unusableRequest(): RailheadError {
  const message = 'csr must be a PKCS#10 request (PEM) of an ECDSA P-256 key, signed by that key';
  return new RailheadError('INVALID_INPUT', message, { path: 'csr' });
}

/** SPKI, PEM. */
export function publicPem(key: webcrypto.CryptoKey): string {
  return KeyObject.from(key).export({ type: 'spki', format: 'pem' }) as string;
}

function keyThumbprint(publicKey: string): string {
  const spki = createPublicKey(publicKey).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(spki).digest('hex');
}
