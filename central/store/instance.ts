import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { writeDurably } from '#base/durableFile.ts';
import { isENOENT } from '#base/errors.ts';

/**
 * Which of the centres that share one database this is: the same after a restart, so that it takes its own work up at once, and
 * another one on another host, should the whole directory have been copied there.
 */
export async function instanceId(directory: string): Promise<string> {
  const file = path.join(directory, 'instance');
  const kept = await readFile(file, 'utf8').catch((error) => {
    if (isENOENT(error)) return undefined;
    throw error;
  });
  const id = kept?.trim() ?? randomUUID();
  if (kept === undefined) await writeDurably(file, `${id}\n`, 0o600);
  return `${os.hostname()}/${id}`;
}
