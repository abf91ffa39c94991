import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import Type, { type Static } from 'typebox';
import { writeDurably } from '#base/durableFile.ts';
import { ignore, isENOENT } from '#base/errors.ts';
import type { Operation, OperationResult } from '#contract/operations.ts';
import { validate } from '#contract/validate.ts';

const Entry = Type.Object({
  operationId: Type.String(),
  /** As the centre signed it; empty when it came unsigned, which is refused in its turn. */
  jws: Type.String(),
  /** ISO 8601. By then its id may be forgotten: it could not be begun any more. */
  expiresAt: Type.String(),
  /** When its id burned. */
  begunAt: Type.Optional(Type.String()),
  result: Type.Optional(Type.Unsafe<OperationResult>(Type.Object({ operationId: Type.String() }))),
  /** Whether the centre has taken the result. */
  taken: Type.Optional(Type.Boolean()),
});
type Entry = Static<typeof Entry>;

/**
 * What the centre has ordered of this node, and what became of it, on disk: an operation is here before it is acknowledged, its id burns
 * before it is begun, and its result stays until the centre has taken it.
 */
export interface Journal {
  /** Notes what is new among these. */
  receive(operations: readonly Operation[]): Promise<void>;
  /** Received and not begun, oldest first. */
  waiting(): Pick<Entry, 'operationId' | 'jws'>[];
  /** Begun by an agent that did not live to the end. */
  interrupted(): string[];
  /** `expiresAt`, in milliseconds, as the centre signed it. */
  begin(operationId: string, expiresAt: number): Promise<void>;
  end(result: OperationResult): Promise<void>;
  /** Results that the centre has not taken. */
  untold(): OperationResult[];
  told(results: readonly OperationResult[]): Promise<void>;
}

/** @throws RailheadError INVALID_STATE when the file is not what was written */
export async function openJournal(stateDirectory: string): Promise<Journal> {
  await mkdir(stateDirectory, { recursive: true, mode: 0o700 });
  const file = path.join(stateDirectory, 'operations.json');
  const entries = new Map((await readEntries(file)).map((entry) => [entry.operationId, entry]));
  const interrupted = [...entries.values()].filter(isBegun).map(({ operationId }) => operationId);
  let last: Promise<void> = Promise.resolve();

  /** One write after the other, each of all that is known when its turn comes. */
  function save(): Promise<void> {
    last = last.catch(ignore).then(() => {
      for (const [id, entry] of entries) if (isSpent(entry)) entries.delete(id);
      return writeDurably(file, `${JSON.stringify([...entries.values()])}\n`, 0o600);
    });
    return last;
  }

  function change(operationId: string, fields: Partial<Entry>): void {
    const entry = entries.get(operationId);
    if (entry !== undefined) entries.set(operationId, { ...entry, ...fields });
  }

  return {
    receive: async (operations) => {
      const fresh = operations.filter(({ operationId }) => !entries.has(operationId));
      if (fresh.length === 0) return;
      for (const { operationId, jws = '', expiresAt } of fresh)
        entries.set(operationId, { operationId, jws, expiresAt });
      await save();
    },
    waiting: () => [...entries.values()].filter((entry) => !entry.result && !entry.begunAt),
    interrupted: () => interrupted,
    begin: (operationId, expiresAt) => {
      change(operationId, {
        begunAt: new Date().toISOString(),
        expiresAt: new Date(expiresAt).toISOString(),
      });
      return save();
    },
    end: (result) => {
      change(result.operationId, { result });
      return save();
    },
    untold: () => [...entries.values()].flatMap(({ result, taken }) => (result && !taken ? [result] : [])),
    told: (results) => {
      for (const { operationId } of results) change(operationId, { taken: true });
      return save();
    },
  };
}

function isBegun({ begunAt, result }: Entry): boolean {
  return begunAt !== undefined && result === undefined;
}

function isSpent({ taken, expiresAt }: Entry): boolean {
  return taken === true && !(Date.parse(expiresAt) > Date.now());
}

async function readEntries(file: string): Promise<Entry[]> {
  try {
    return validate(Type.Array(Entry), JSON.parse(await readFile(file, 'utf8')), 'INVALID_STATE');
  } catch (error) {
    if (isENOENT(error)) return [];
    throw error;
  }
}
