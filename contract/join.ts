import { createHash, type KeyObject } from 'node:crypto';
import Type, { type Static } from 'typebox';
import { Mac } from './bootEntry.ts';

const closed = { additionalProperties: false };

/** What a site or node is called in its certificate; no character of it means anything in a distinguished name or a URI. */
const AgentId = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' });
const Version = Type.String({ maxLength: 128 });
/** PKCS#10, PEM. */
const CertificateRequest = Type.String({ maxLength: 8192 });
const Pin = Type.String({ maxLength: 128 });
/** The centre counts what its databases hold exactly. */
const Renewals = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER };

/**
 * How long after its certificate's end an agent may still renew by its key, in milliseconds: a site that was dark for a season comes
 * back by itself.
 */
export const renewalGraceMs = 90 * 24 * 3_600_000;

/** A public key as a JWK: Ed25519 (`crv: 'Ed25519'`) or X25519. */
export const OkpJwk = Type.Object(
  { kty: Type.Literal('OKP'), crv: Type.Enum(['Ed25519', 'X25519']), x: Type.String() },
  closed,
);
export type OkpJwk = Static<typeof OkpJwk>;

/** A public key that secrets are sealed to. */
export const SealingJwk = Type.Object(
  {
    kty: Type.Literal('OKP'),
    crv: Type.Literal('X25519'),
    x: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
  },
  closed,
);
export type SealingJwk = Static<typeof SealingJwk>;

const Authority = Type.String({ maxLength: 16_384 });
const mostOlder = { maxItems: 16 };

/** `GET /.well-known/bcd.json` of the centre: nothing in it is believed unless the pins match. */
export const WellKnown = Type.Object(
  {
    protocol: Type.Integer(),
    /** PEM of the CA that signs the gateway's and the agents' certificates: that one certificate. */
    servingCa: Authority,
    joinSigningKey: OkpJwk,
    joinEncryptionKey: OkpJwk,
    /** What a rotation replaced and is still accepted: a pin that was handed out before it holds until that key is retired. */
    older: Type.Optional(
      Type.Object(
        {
          servingCas: Type.Array(Authority, mostOlder),
          joinSigningKeys: Type.Array(OkpJwk, mostOlder),
          joinEncryptionKeys: Type.Array(OkpJwk, mostOlder),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type WellKnown = Static<typeof WellKnown>;

/** The form of a trust anchor in configuration and commands: `sha256/` and the base64 digest of its SPKI (as RFC 7469 writes it). */
export function spkiPin(key: KeyObject): string {
  const spki = key.export({ type: 'spki', format: 'der' });
  return `sha256/${createHash('sha256').update(spki).digest('base64')}`;
}

export interface Pins {
  servingCaPin: string;
  joinSigningPin: string;
  joinEncryptionPin: string;
}

/** The `typ` of a sealed join token. */
export const joinTokenTyp = 'railhead-join-token';

/**
 * `POST /v1/join` at the centre, for sites and nodes. `token` is the join token, sealed to the join encryption key for this request's
 * keys (JWE; `apu` is their `joinParty`): whoever passes it on can put no other keys beside it.
 */
export const JoinRequest = Type.Object(
  {
    protocol: Type.Integer(),
    role: Type.Enum(['site', 'node']),
    nodeId: AgentId,
    token: Type.String({ maxLength: 4096 }),
    /** Proof of the agent's own key. */
    csr: CertificateRequest,
    /** X25519: what is sealed to this agent. */
    sealingKey: Type.Optional(SealingJwk),
    version: Version,
    /** The pin of the key that is to sign the answer; the newest one without it. */
    signedBy: Type.Optional(Pin),
  },
  closed,
);
export type JoinRequest = Static<typeof JoinRequest>;

/** Names the keys of a join request: SHA-256 over the request for the certificate, as it is sent, and the sealing key. */
export function joinParty({ csr, sealingKey }: { csr: string; sealingKey?: OkpJwk }): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([csr, sealingKey?.x ?? null]))
    .digest();
}

/**
 * What an agent signs with its own key (compact JWS, `typ` `railhead-renewal`, ES256) for a new certificate: it is let in by that
 * key alone, so that it works after the old certificate's end too.
 */
export const Renewal = Type.Object(
  {
    role: Type.Enum(['site', 'node']),
    nodeId: AgentId,
    /** One more than the renewals before. A counter that was used already, with another nonce, is a copy of this agent. */
    counter: Type.Integer({ ...Renewals, minimum: 1 }),
    nonce: Type.String({ minLength: 16, maxLength: 64 }),
    /** When it was signed (RFC 3339): an old one that somebody has found proves nothing. */
    at: Type.String({ maxLength: 64 }),
    /** Of the same key. */
    csr: CertificateRequest,
    sealingKey: SealingJwk,
    version: Version,
    /** Pins of the centre's signing keys that the agent accepts. */
    signedBy: Type.Array(Pin, { maxItems: 8 }),
  },
  closed,
);
export type Renewal = Static<typeof Renewal>;

/** `POST /v1/renew` at the centre, over TLS with or without a client certificate. The answer is that of a join. */
export const RenewRequest = Type.Object(
  { protocol: Type.Integer(), proof: Type.String({ maxLength: 32_768 }) },
  closed,
);
export type RenewRequest = Static<typeof RenewRequest>;

/** The answer to a join or renewal, a compact JWS (`typ` `railhead-join-response`) by a signing key of the centre over this document. */
export const JoinResponse = Type.Object(
  {
    protocol: Type.Integer(),
    role: Type.Enum(['site', 'node']),
    nodeId: Type.String(),
    /** PEM: the agent's certificate, then what links its CA to older ones. */
    certificate: Type.String(),
    /** PEM: every CA that is accepted, newest first. */
    ca: Type.String(),
    expiresAt: Type.String(),
    /** The renewals so far: 0 after a join. */
    counter: Type.Integer(Renewals),
    /** The centre's signing keys, newest first, and the number of that list (contract/trust.ts). */
    signingKeys: Type.Array(OkpJwk, { minItems: 1 }),
    trustNumber: Type.Integer({ minimum: 1 }),
  },
  closed,
);
export type JoinResponse = Static<typeof JoinResponse>;

const levels = ['network', 'own-key', 'tpm'] as const;

/**
 * How far a machine's identity is trusted, from least to most. `network`: whoever is on the provisioning LAN could have been
 * it. `own-key`: the machine says that its firmware verified our image by a key of the operator's own. `tpm`: proven by its TPM.
 */
export const TrustLevel = Type.Enum(levels);
export type TrustLevel = Static<typeof TrustLevel>;

/** Whether a machine of trust `level` is trusted as far as `least` demands. */
export function isTrusted(level: TrustLevel, least: TrustLevel): boolean {
  return levels.indexOf(level) >= levels.indexOf(least);
}

/**
 * `POST /v1/join` at the site's machine listener. `proof` is a JWS by `signingKey` over this document without
 * `proof`; the site checks token and proof, and the centre checks proof again when the message reaches it.
 */
export const RamdiskJoin = Type.Object(
  {
    protocol: Type.Integer(),
    /** Boot token: minted by the site for one script fetch under one boot entry. */
    token: Type.String(),
    mac: Mac,
    uuid: Type.Optional(Type.String()),
    bootId: Type.String(),
    signingKey: OkpJwk,
    sealingKey: Type.Unsafe<OkpJwk>(SealingJwk),
    version: Type.String(),
    /** What the machine's firmware lets it say of itself; `tpm` is not for a machine to say. */
    trust: Type.Enum(['network', 'own-key']),
    proof: Type.String(),
  },
  closed,
);
export type RamdiskJoin = Static<typeof RamdiskJoin>;

/** What tells one ramdisk agent from another, whatever it says of itself: a digest of both its public keys. */
export function machineThumbprint({
  signingKey,
  sealingKey,
}: Pick<RamdiskJoin, 'signingKey' | 'sealingKey'>): string {
  return createHash('sha256').update(`${signingKey.x}.${sealingKey.x}`).digest('base64url');
}

/**
 * The site's answer. `session` authorises the machine's later requests on the same listener (`Authorization: Bearer`). Which node it
 * is the machine believes by `entry` alone: the BootEntry that it joined under, signed by the centre (compact JWS).
 */
export const RamdiskJoinAnswer = Type.Object(
  {
    protocol: Type.Integer(),
    siteId: Type.String(),
    nodeId: Type.String(),
    entry: Type.String(),
    session: Type.String(),
    /** Base URL of the site's cache on the provisioning network: `<imagesUrl>/sha256/<digest>`. */
    imagesUrl: Type.String(),
    /** The centre's keys (contract/trust.ts), for a ramdisk image that is older than the newest of them. */
    trust: Type.Optional(Type.Array(Type.String())),
  },
  closed,
);
export type RamdiskJoinAnswer = Static<typeof RamdiskJoinAnswer>;

/**
 * `POST /v1/token` at the site's machine listener: how a ramdisk that was booted without a command line (UEFI HTTP
 * boot) gets the boot token of the entry that its MAC has. 404 when the machine has none.
 */
export const RamdiskTokenRequest = Type.Object({ mac: Mac, uuid: Type.Optional(Type.String()) }, closed);
export type RamdiskTokenRequest = Static<typeof RamdiskTokenRequest>;
export const RamdiskTokenAnswer = Type.Object({ token: Type.String() }, closed);
export type RamdiskTokenAnswer = Static<typeof RamdiskTokenAnswer>;
