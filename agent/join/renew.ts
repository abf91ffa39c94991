import { createPrivateKey, randomBytes } from 'node:crypto';
import { publicKeyFromJwk, signDocument } from '#base/jws.ts';
import { version } from '#base/version.ts';
import { protocolVersion } from '#contract/agentWire.ts';
import { type Renewal, spkiPin } from '#contract/join.ts';
import { openAdmission } from './admission.ts';
import { postRenewal } from './centre.ts';
import type { Identity } from './identity.ts';
import type { KeptIdentity } from './keptIdentity.ts';
import { certificateRequest, sealingJwk } from './ownKeys.ts';

/**
 * Gets a new certificate by proof of the agent's key, and keeps it. The counter that it asks under is on disk before it asks, and a
 * renewal without an answer is asked again as it was: the centre cannot take a crash for a copied disk.
 * @throws RailheadError as the centre answered (`revoked`, `copied`, `expired`, …); UNAVAILABLE, FORBIDDEN
 */
export async function renewCertificate(kept: KeptIdentity, server: string): Promise<void> {
  await kept.change((current) => ({ ...current, renewal: proposed(current) }));
  const identity = kept.current;
  const proof = await signDocument(
    'railhead-renewal',
    await renewalOf(identity),
    createPrivateKey(identity.privateKey),
  );
  const answer = await postRenewal(server, identity.ca, { protocol: protocolVersion, proof });
  const asked = { ...identity, counter: proposed(identity).counter };
  const { certificate, expiresAt, counter } = await openAdmission(answer, kept.signingKeys(), asked);
  // Whom to believe is learned by polls alone, which bring the proof that ramdisks need too.
  await kept.change(({ renewal: _answered, ...current }) => ({
    ...current,
    certificate,
    expiresAt,
    counter,
  }));
}

/** The renewal that has no answer yet, or the next one. */
function proposed({ renewal, counter }: Identity): NonNullable<Identity['renewal']> {
  return renewal ?? { counter: counter + 1, nonce: randomBytes(16).toString('base64url') };
}

async function renewalOf(identity: Identity): Promise<Renewal> {
  const { role, nodeId, privateKey } = identity;
  return {
    role,
    nodeId,
    ...proposed(identity),
    at: new Date().toISOString(),
    csr: await certificateRequest(privateKey, nodeId),
    sealingKey: sealingJwk(identity),
    version,
    signedBy: identity.signingKeys.map((key) => spkiPin(publicKeyFromJwk(key))),
  };
}
