import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { verifyDocument } from '#base/jws.ts';
import { RailheadError } from '#contract/errors.ts';
import { JoinResponse } from '#contract/join.ts';
import { validateMessage } from '#contract/protocol.ts';
import type { Identity } from './identity.ts';

/** What a join or a renewal gives an agent. */
export type Admission = Pick<
  Identity,
  'certificate' | 'ca' | 'expiresAt' | 'counter' | 'signingKeys' | 'trustNumber'
>;

/**
 * The centre's answer to a join or a renewal, once it is signed by a key that is believed, and for this agent, its key, this time
 * and what was asked: `counter` renewals.
 * @throws RailheadError FORBIDDEN (`signature`, `other-identity`, `other-key`, `other-answer`, `clock`)
 */
export async function openAdmission(
  jws: string,
  signingKeys: readonly KeyObject[],
  asked: Pick<Identity, 'role' | 'nodeId' | 'privateKey' | 'counter'>,
): Promise<Admission> {
  const response = await openResponse(jws, signingKeys);
  if (response.nodeId !== asked.nodeId) throw otherIdentity(asked.nodeId, response.nodeId);
  if (response.role !== asked.role) throw otherIdentity(asked.role, response.role);
  if (response.counter !== asked.counter) throw otherAnswer(asked.counter, response.counter);
  checkCertificate(response.certificate, asked.privateKey);
  const { certificate, ca, expiresAt, counter, signingKeys: keys, trustNumber } = response;
  return { certificate, ca, expiresAt, counter, signingKeys: keys, trustNumber };
}

async function openResponse(jws: string, signingKeys: readonly KeyObject[]): Promise<JoinResponse> {
  const document = await verifyDocument('railhead-join-response', jws, signingKeys).catch((error) => {
    const message =
      "the answer is not signed by a key that is believed here: another server answered in the centre's place";
    throw new RailheadError('FORBIDDEN', message, { reason: 'signature' }, error);
  });
  return validateMessage(JoinResponse, document, 'FORBIDDEN');
}

function checkCertificate(pem: string, privateKey: string): void {
  const certificate = new X509Certificate(pem);
  if (!certificate.publicKey.equals(createPublicKey(privateKey)))
    throw new RailheadError('FORBIDDEN', 'the certificate in the answer is for another key', {
      reason: 'other-key',
    });
  const now = Date.now();
  if (now >= certificate.validFromDate.getTime() && now <= certificate.validToDate.getTime()) return;
  const [from, here] = [certificate.validFromDate, new Date(now)].map((date) => date.toISOString());
  throw new RailheadError(
    'FORBIDDEN',
    `the new certificate is valid from ${from}, this machine's time is ${here}: set the clock`,
    { reason: 'clock' },
  );
}

/** A genuine one of an earlier time would set the counter back, which makes an agent look like its own copy. */
function otherAnswer(asked: number, found: number): RailheadError {
  const message = `the answer is to renewal ${found}, not to ${asked}: somebody has put an older one in its place`;
  return new RailheadError('FORBIDDEN', message, { reason: 'other-answer', expected: asked, found });
}

export function otherIdentity(asked: string, found: string): RailheadError {
  return new RailheadError(
    'FORBIDDEN',
    `this is ${found}, not ${asked}: an identity is not changed by joining again`,
    { reason: 'other-identity', expected: asked, found },
  );
}
