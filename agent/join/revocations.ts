import { readFile } from 'node:fs/promises';
import path from 'node:path';
import Type, { type Static } from 'typebox';
import { writeDurably } from '#base/durableFile.ts';
import { isENOENT } from '#base/errors.ts';
import { verifyDocument } from '#base/jws.ts';
import { RailheadError } from '#contract/errors.ts';
import { RevocationList, type Revoked } from '#contract/trust.ts';
import { validate } from '#contract/validate.ts';
import type { KeptIdentity } from './keptIdentity.ts';

/** A fresh list is asked for when the one here was taken this long ago, in milliseconds: it lasts a week. */
const refreshMs = 24 * 3_600_000;

/** The centre's list of the revoked, kept on disk: it counts while the centre cannot be asked. */
export interface Revocations {
  /** For the next poll: 0 when a fresh list is due. */
  number(): number;
  isRevoked(kind: Revoked['kind'], subject: string): boolean;
  /** The list as it is, for those who look. */
  current(): RevocationList | undefined;
  /**
   * Takes a newer list; an older one is left alone.
   * @throws RailheadError FORBIDDEN (`signature`) unless the centre signed it
   */
  take(jws: string): Promise<void>;
  /** Calls `listener` after each list that was taken. */
  onChange(listener: () => void): void;
}

const Kept = Type.Object({ takenAt: Type.Number(), list: RevocationList });
type Kept = Static<typeof Kept>;

/** Opens the list that `stateDirectory` has; it was verified when it was taken. */
export async function keepRevocations(
  stateDirectory: string,
  identity: Pick<KeptIdentity, 'signingKeys'>,
): Promise<Revocations> {
  const file = path.join(stateDirectory, 'revocations.json');
  let kept = await readKept(file);
  let subjects = index(kept?.list);
  const listeners: (() => void)[] = [];
  return {
    number: () => (kept === undefined || isStale(kept) ? 0 : kept.list.number),
    isRevoked: (kind, subject) => subjects.has(`${kind}/${subject}`),
    current: () => kept?.list,
    onChange: (listener) => void listeners.push(listener),
    take: async (jws) => {
      const list = await openList(jws, identity);
      if (kept !== undefined && list.number < kept.list.number) return;
      const taken = { takenAt: Date.now(), list };
      await writeDurably(file, `${JSON.stringify(taken)}\n`, 0o600);
      kept = taken;
      subjects = index(list);
      for (const listener of listeners) listener();
    },
  };
}

/** @throws RailheadError FORBIDDEN (`revoked`) when the list has it */
export function refuseRevoked(
  revocations: Pick<Revocations, 'isRevoked'>,
  kind: Revoked['kind'],
  subject: string,
): void {
  if (!revocations.isRevoked(kind, subject)) return;
  throw new RailheadError('FORBIDDEN', 'the centre has revoked this identity', { reason: 'revoked' });
}

async function openList(
  jws: string,
  { signingKeys }: Pick<KeptIdentity, 'signingKeys'>,
): Promise<RevocationList> {
  const document = await verifyDocument('railhead-revocations', jws, signingKeys()).catch(
    (error: unknown) => {
      const message = 'the list of the revoked is not signed by this centre; it is not taken';
      throw new RailheadError('FORBIDDEN', message, { reason: 'signature' }, error);
    },
  );
  return validate(RevocationList, document, 'FORBIDDEN');
}

function isStale({ takenAt }: Kept): boolean {
  return takenAt + refreshMs <= Date.now();
}

function index(list: RevocationList | undefined): Set<string> {
  return new Set(list?.revoked.map(({ kind, subject }) => `${kind}/${subject}`));
}

async function readKept(file: string): Promise<Kept | undefined> {
  try {
    return validate(Kept, JSON.parse(await readFile(file, 'utf8')), 'INVALID_STATE');
  } catch (error) {
    if (isENOENT(error)) return undefined;
    throw error;
  }
}
