import { signDocument } from '#base/jws.ts';
import { protocolVersion } from '#contract/agentWire.ts';
import type { JoinResponse } from '#contract/join.ts';
import type { AgentIdentity } from '../agents/identity.ts';
import { type IssuedCertificate, shownChain } from './authority.ts';
import { type CentralKeys, publicJwk } from './keys.ts';
import { acceptedAuthorities, acceptedSigningKeys, signerAmong } from './trust.ts';

export interface Admission {
  identity: AgentIdentity;
  issued: IssuedCertificate;
  /** The renewals so far. */
  counter: number;
  /** Pins of the signing keys that the agent accepts. */
  signedBy: readonly string[];
}

/** The answer to a join or a renewal (`railhead-join-response`): the new certificate, and whom to believe from now on. */
export function signedAdmission(keys: CentralKeys, admission: Admission): Promise<string> {
  const { identity, issued, counter, signedBy } = admission;
  const response: JoinResponse = {
    protocol: protocolVersion,
    role: identity.role,
    nodeId: identity.id,
    certificate: shownChain(keys.authority, issued),
    ca: acceptedAuthorities(keys).join(''),
    expiresAt: issued.expiresAt.toISOString(),
    counter,
    signingKeys: acceptedSigningKeys(keys).map(publicJwk),
    trustNumber: keys.number,
  };
  return signDocument('railhead-join-response', response, signerAmong(keys, signedBy));
}
