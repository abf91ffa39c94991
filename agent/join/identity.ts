import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import Type, { type Static } from 'typebox';
import { writeDurably } from '#base/durableFile.ts';
import { isENOENT } from '#base/errors.ts';
import type { Sealer } from '#base/sealing.ts';
import { RailheadError } from '#contract/errors.ts';
import { OkpJwk } from '#contract/join.ts';
import { validate } from '#contract/validate.ts';

/** Who this agent is, as its join and its renewals left it: everything that it needs to reach the centre and to believe it. */
export const Identity = Type.Object(
  {
    role: Type.Enum(['site', 'node']),
    nodeId: Type.String(),
    /** Base URL of the centre that was joined. */
    server: Type.String(),
    /** PKCS#8, PEM. Made here; it never leaves. */
    privateKey: Type.String(),
    /** X25519, PKCS#8, PEM: opens what is sealed to this agent. Made here; it never leaves. */
    sealingPrivateKey: Type.String(),
    /** PEM: the agent's certificate, then what links its CA to older ones. */
    certificate: Type.String(),
    expiresAt: Type.String(),
    /** The renewals so far. */
    counter: Type.Integer({ minimum: 0 }),
    /** A renewal that has no answer yet: asked again, it is the same one, so that a crash does not look like a copied disk. */
    renewal: Type.Optional(Type.Object({ counter: Type.Integer(), nonce: Type.String() })),
    /** PEM: every CA of the centre that is accepted, newest first. */
    ca: Type.String(),
    /** The centre's keys that sign boot entries, operations and join answers, newest first. */
    signingKeys: Type.Array(OkpJwk, { minItems: 1 }),
    /** The number of the list (contract/trust.ts) that `ca` and `signingKeys` are from. */
    trustNumber: Type.Integer({ minimum: 1 }),
    /** That list as the centre signed it, for ramdisks whose image is older; absent before the first rotation. */
    trust: Type.Optional(Type.Array(Type.String())),
    /** Set once the centre has refused this agent for good. Only a new join ends it. */
    revoked: Type.Optional(Type.Object({ at: Type.String(), message: Type.String() })),
  },
  { additionalProperties: false },
);
export type Identity = Static<typeof Identity>;

const { privateKey, sealingPrivateKey, ...told } = Identity.properties;
const PrivateKeys = Type.Object({ privateKey, sealingPrivateKey }, { additionalProperties: false });
/** All of it but what its own agent alone needs. */
export type PublicIdentity = Omit<Identity, keyof Static<typeof PrivateKeys>>;

/** The file: the private keys as they are, or encrypted by the key that secrets at rest have. */
const IdentityFile = Type.Object(
  { ...told, ...Type.Partial(PrivateKeys).properties, sealedKeys: Type.Optional(Type.String()) },
  { additionalProperties: false },
);

function identityFile(stateDirectory: string): string {
  return path.join(stateDirectory, 'identity.json');
}

/** One file, so that a crash leaves either no identity or a whole one. With `sealer` its private keys are encrypted. */
export async function writeIdentity(
  stateDirectory: string,
  identity: Identity,
  sealer?: Sealer,
): Promise<void> {
  await mkdir(stateDirectory, { recursive: true, mode: 0o700 });
  const content = sealer === undefined ? identity : withSealedKeys(identity, sealer);
  await writeDurably(identityFile(stateDirectory), `${JSON.stringify(content, null, 2)}\n`, 0o600);
}

function withSealedKeys({ privateKey, sealingPrivateKey, ...rest }: Identity, sealer: Sealer): object {
  const sealedKeys = sealer.seal(JSON.stringify({ privateKey, sealingPrivateKey })).toString('base64');
  return { ...rest, sealedKeys };
}

/** The identity kept in `stateDirectory`, as far as it is no secret; undefined before the first join. */
export async function findJoined(stateDirectory: string): Promise<PublicIdentity | undefined> {
  const found = await readIdentityFile(stateDirectory);
  return found && publicPart(found);
}

export function publicPart(identity: Static<typeof IdentityFile>): PublicIdentity {
  const { privateKey: _, sealingPrivateKey: __, sealedKeys: ___, ...joined } = identity;
  return joined;
}

async function readIdentityFile(stateDirectory: string): Promise<Static<typeof IdentityFile> | undefined> {
  try {
    const text = await readFile(identityFile(stateDirectory), 'utf8');
    return validate(IdentityFile, JSON.parse(text), 'INVALID_STATE');
  } catch (error) {
    if (isENOENT(error)) return undefined;
    throw error;
  }
}

/**
 * The identity of this agent. `sealer` opens private keys that were encrypted.
 * @throws RailheadError INVALID_STATE when this agent has not joined (`not-joined`), joined in another role (`other-role`), or the private keys
 *   cannot be opened (`at-rest-key`)
 */
export async function readIdentity(
  stateDirectory: string,
  role: Identity['role'],
  sealer?: Sealer,
): Promise<Identity> {
  const path = identityFile(stateDirectory);
  const found = await readIdentityFile(stateDirectory);
  if (found === undefined)
    throw new RailheadError('INVALID_STATE', `this ${role} has not joined: run 'bcd join' first`, {
      path,
      reason: 'not-joined',
    });
  if (found.role !== role)
    throw new RailheadError('INVALID_STATE', `the identity here is a ${found.role}'s, not a ${role}'s`, {
      path,
      reason: 'other-role',
    });
  const { sealedKeys, ...identity } = found;
  const keys = sealedKeys === undefined ? {} : openedKeys(sealedKeys, path, sealer);
  return validate(Identity, { ...identity, ...keys }, 'INVALID_STATE');
}

function openedKeys(sealedKeys: string, path: string, sealer: Sealer | undefined): object {
  try {
    if (sealer === undefined) throw new Error('there is no key');
    return JSON.parse(sealer.open(Buffer.from(sealedKeys, 'base64')));
  } catch (error) {
    const message =
      'the private keys here were encrypted by another key at rest: put that one back, as the old one too, or remove the identity and join again';
    throw new RailheadError('INVALID_STATE', message, { path, reason: 'at-rest-key' }, error);
  }
}
