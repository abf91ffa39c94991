import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { writeDurably } from '#base/durableFile.ts';
import { RailheadError } from '#contract/errors.ts';

/** Where a centre's books are: a SQLite file in its directory, or a PostgreSQL database that several centres may share. */
export type Database = { dialect: 'sqlite'; file: string } | { dialect: 'postgres'; url: string };

/** The database of the centre in `directory`: the PostgreSQL one that was recorded there, else the SQLite file. */
export function databaseOf(directory: string): Database {
  const record = recordFile(directory);
  if (existsSync(record)) return { dialect: 'postgres', url: readFileSync(record, 'utf8').trim() };
  return { dialect: 'sqlite', file: sqliteFile(directory) };
}

/**
 * Records that the centre in `directory` keeps its books at `url`, so that the commands on its host find them too.
 * @throws RailheadError INVALID_CONFIG for another kind of URL or one with a password in it, which would be seen in the list of
 *   processes; CONFLICT when the directory has a SQLite database already
 */
export async function recordDatabase(directory: string, url: string): Promise<void> {
  checkUrl(url);
  if (existsSync(sqliteFile(directory)))
    throw new RailheadError(
      'CONFLICT',
      `${directory} has a SQLite database already: name an empty directory, or leave --database out`,
      { path: 'database', reason: 'sqlite' },
    );
  await writeDurably(recordFile(directory), `${url}\n`, 0o600);
}

/** Whether books were begun for `directory`; a PostgreSQL database is taken at its record's word. */
export function hasDatabase(directory: string): boolean {
  return existsSync(recordFile(directory)) || existsSync(sqliteFile(directory));
}

export function sqliteFile(directory: string): string {
  return path.join(directory, 'central.db');
}

function recordFile(directory: string): string {
  return path.join(directory, 'database.url');
}

function checkUrl(url: string): void {
  const parsed = URL.parse(url);
  const refuse = (message: string) =>
    new RailheadError('INVALID_CONFIG', message, { path: 'database', reason: 'url' });
  if (parsed === null || !/^postgres(ql)?:$/.test(parsed.protocol))
    throw refuse('the database is a URL such as postgres://railhead@db.example.com/railhead');
  if (parsed.password !== '' || parsed.searchParams.has('password'))
    throw refuse('keep the password out of the URL: put it into the file that PGPASSFILE names (~/.pgpass)');
}
