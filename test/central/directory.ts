import { mkdtemp } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { recordDatabase } from '#central/store/database.ts';
import { newDatabase } from '../postgres/server.ts';

/** The end-to-end cases use these centres too, outside of vitest: their books are SQLite. */
const server = process.env.VITEST === undefined ? undefined : (await import('vitest')).inject('postgres');

/** Which database this run of the tests is about. */
export const dialect = server === undefined ? 'sqlite' : 'postgres';

/** An empty directory for a centre, whose books are in the database that this run is about. */
export async function centreDirectory(): Promise<string> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'railhead-central-'));
  if (server !== undefined) await recordDatabase(directory, await newDatabase(server));
  return directory;
}
