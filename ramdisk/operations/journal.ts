import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { writeDurably } from '#base/durableFile.ts';
import { isENOENT } from '#base/errors.ts';
import type { OperationResult } from '#contract/operations.ts';

/** Begun and not ended, or ended with a result that the site may not have taken yet. */
type Entry = { result?: OperationResult; reported?: boolean };

/**
 * Which operations this boot has seen. An id burns when it is begun. The file lies on the ramdisk's own file system: it outlives
 * the agent, not the boot.
 */
export interface Journal {
  ids(): string[];
  has(operationId: string): boolean;
  /** Ended, but not known to be taken by the site. */
  unreported(): OperationResult[];
  /** Begun by an agent that was killed. */
  interrupted(operationId: string): boolean;
  begin(operationId: string): Promise<void>;
  end(result: OperationResult): Promise<void>;
  reported(operationId: string): Promise<void>;
}

export async function openJournal(directory: string): Promise<Journal> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = path.join(directory, 'operations.json');
  const entries = await readEntries(file);
  const begunBefore = new Set([...entries].filter(([, entry]) => !entry.result).map(([id]) => id));
  const write = async (operationId: string, entry: Entry) => {
    entries.set(operationId, entry);
    begunBefore.delete(operationId);
    await writeDurably(file, JSON.stringify([...entries]), 0o600);
  };
  return {
    ids: () => [...entries.keys()].filter((id) => !begunBefore.has(id)),
    has: (id) => entries.has(id) && !begunBefore.has(id),
    unreported: () =>
      [...entries.values()].flatMap(({ result, reported }) => (result && !reported ? [result] : [])),
    interrupted: (id) => begunBefore.has(id),
    begin: (id) => write(id, {}),
    end: (result) => write(result.operationId, { result }),
    reported: (id) => write(id, { ...entries.get(id), reported: true }),
  };
}

async function readEntries(file: string): Promise<Map<string, Entry>> {
  try {
    return new Map(JSON.parse(await readFile(file, 'utf8')) as [string, Entry][]);
  } catch (error) {
    if (isENOENT(error)) return new Map();
    throw error;
  }
}
