import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import Type, { type Static } from 'typebox';
import { writeDurably } from '#base/durableFile.ts';
import { isENOENT } from '#base/errors.ts';
import { validate } from '#contract/validate.ts';

/** What each key of the centre is for. */
export const keyUses = ['authority', 'signing', 'join-encryption', 'at-rest'] as const;
export type KeyUse = (typeof keyUses)[number];

const RingKey = Type.Object(
  { file: Type.String({ pattern: '^[a-z0-9.-]+$' }), since: Type.String() },
  { additionalProperties: false },
);

const KeyRing = Type.Object(
  {
    /** Grows with each change; what agents are told of the keys carries it. */
    number: Type.Integer({ minimum: 1 }),
    /** Newest first: it signs, seals and issues. The others are still accepted. */
    keys: Type.Record(Type.Enum([...keyUses]), Type.Array(RingKey, { minItems: 1 })),
  },
  { additionalProperties: false },
);

/** Which files of `keys/` are in use: `keys/ring.json`. Before the first rotation there is none. */
export type KeyRing = Static<typeof KeyRing> & { keys: Record<KeyUse, { file: string; since: string }[]> };

export function ringFile(directory: string): string {
  return path.join(directory, 'keys', 'ring.json');
}

/** The ring of a directory; before the first rotation the four files that `init` makes. */
export async function readRing(directory: string): Promise<KeyRing> {
  try {
    const text = await readFile(ringFile(directory), 'utf8');
    return validate(KeyRing, JSON.parse(text), 'INVALID_STATE') as KeyRing;
  } catch (error) {
    if (!isENOENT(error)) throw error;
  }
  const first = (use: KeyUse) => [{ file: firstFile(use), since: new Date(0).toISOString() }];
  const keys = Object.fromEntries(keyUses.map((use) => [use, first(use)])) as KeyRing['keys'];
  return { number: 1, keys };
}

/** The change is made when this has returned: a running centre takes it up within a second. */
export async function writeRing(directory: string, ring: KeyRing): Promise<void> {
  await writeDurably(ringFile(directory), `${JSON.stringify(ring, null, 2)}\n`, 0o600);
}

/** What `init` calls the first key of a use. */
export function firstFile(use: KeyUse): string {
  return `${use}.${extension(use)}`;
}

export function newFile(use: KeyUse): string {
  return `${use}-${randomBytes(6).toString('hex')}.${extension(use)}`;
}

/** A number greater than any before, after a restored backup too. */
export function nextNumber(before: number): number {
  return Math.max(before + 1, Date.now());
}

function extension(use: KeyUse): string {
  return use === 'at-rest' ? 'key' : 'pem';
}
