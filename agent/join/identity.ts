import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import Type, { type Static } from 'typebox';
import { writeDurably } from '#base/durableFile.ts';
import { isENOENT } from '#base/errors.ts';
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

function identityFile(stateDirectory: string): string {
  return path.join(stateDirectory, 'identity.json');
}

/** One file, so that a crash leaves either no identity or a whole one. */
export async function writeIdentity(stateDirectory: string, identity: Identity): Promise<void> {
  await mkdir(stateDirectory, { recursive: true, mode: 0o700 });
  await writeDurably(identityFile(stateDirectory), `${JSON.stringify(identity, null, 2)}\n`, 0o600);
}

/** The identity kept in `stateDirectory`; undefined before the first join. */
export async function findIdentity(stateDirectory: string): Promise<Identity | undefined> {
  try {
    return validate(
      Identity,
      JSON.parse(await readFile(identityFile(stateDirectory), 'utf8')),
      'INVALID_STATE',
    );
  } catch (error) {
    if (isENOENT(error)) return undefined;
    throw error;
  }
}

/** @throws RailheadError INVALID_STATE when this agent has not joined, or joined in another role */
export async function readIdentity(stateDirectory: string, role: Identity['role']): Promise<Identity> {
  const identity = await findIdentity(stateDirectory);
  if (identity === undefined)
    throw new RailheadError('INVALID_STATE', `this ${role} has not joined: run 'bcd join' first`, {
      path: identityFile(stateDirectory),
      reason: 'not-joined',
    });
  if (identity.role !== role)
    throw new RailheadError('INVALID_STATE', `the identity here is a ${identity.role}'s, not a ${role}'s`, {
      path: identityFile(stateDirectory),
      reason: 'other-role',
    });
  return identity;
}
