import Type, { type Static } from 'typebox';
import { OkpJwk } from './join.ts';

const closed = { additionalProperties: false };

/**
 * The centre's keys that its agents and ramdisks accept, newest first. It travels as compact JWSs (`typ` `railhead-trust`), one by each
 * signing key in it, so that whoever knows one of them learns the others. A list is taken when its number is the greater one.
 */
export const TrustList = Type.Object(
  {
    number: Type.Integer({ minimum: 1 }),
    issuedAt: Type.String(),
    /** PEM, one CA each. */
    authorities: Type.Array(Type.String(), { minItems: 1, maxItems: 8 }),
    signingKeys: Type.Array(OkpJwk, { minItems: 1, maxItems: 8 }),
  },
  closed,
);
export type TrustList = Static<typeof TrustList>;

/** One that is no longer to be believed, although the centre vouched for it once. */
export const Revoked = Type.Object(
  {
    /** `certificate`: an agent's; `machine-key`: what a ramdisk signs with. */
    kind: Type.Enum(['certificate', 'machine-key']),
    /** The certificate's serial (hex); the `x` of the machine's key. */
    subject: Type.String(),
    /** Whose it was: `urn:railhead:site:…` or `urn:railhead:node:…`. */
    identity: Type.String(),
    at: Type.String(),
  },
  closed,
);
export type Revoked = Static<typeof Revoked>;

/** Whom the centre has revoked, as a compact JWS (`typ` `railhead-revocations`). It replaces any with a smaller number, and is kept past `expiresAt`. */
export const RevocationList = Type.Object(
  {
    number: Type.Integer({ minimum: 1 }),
    issuedAt: Type.String(),
    /** By then a site that reaches the centre has a newer one: past it, the list may lack what was revoked since. */
    expiresAt: Type.String(),
    revoked: Type.Array(Revoked),
  },
  closed,
);
export type RevocationList = Static<typeof RevocationList>;
