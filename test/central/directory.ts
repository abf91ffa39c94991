import { mkdtemp } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { inject } from 'vitest';
import { recordDatabase } from '#central/store/database.ts';
import { newDatabase } from '../postgres/server.ts';

/** Which database this run of the tests is about. */
export const dialect = inject('postgres') === undefined ? 'sqlite' : 'postgres';

/** An empty directory for a centre, whose books are in the database that this run is about. */
export async function centreDirectory(): Promise<string> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'railhead-central-'));
  const server = inject('postgres');
  if (server !== undefined) await recordDatabase(directory, await newDatabase(server));
  return directory;
}
