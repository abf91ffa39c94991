import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { openSqlite, type Sqlite } from '#base/sqlite.ts';
import { type BmcPins, openBmcPins } from './bmcPins.ts';
import { type BootEntries, openBootEntries } from './bootEntries.ts';
import { type BootTokens, openBootTokens } from './bootTokens.ts';
import { type Events, openEvents } from './events.ts';
import { type Journal, openJournal } from './journal.ts';
import { migrations } from './schema.ts';
import { openSessions, type Sessions } from './sessions.ts';
import { openSpec, type SpecStore } from './spec.ts';

/** Everything a site must not lose, in one SQLite file. */
export interface SiteState {
  database: Sqlite;
  spec: SpecStore;
  journal: Journal;
  entries: BootEntries;
  tokens: BootTokens;
  sessions: Sessions;
  events: Events;
  bmcPins: BmcPins;
  /** Runs `change` as one transaction: all of it is kept or nothing. */
  atomically<Result>(change: () => Result): Result;
  close(): void;
}

export async function openState(stateDirectory: string, now: () => number = Date.now): Promise<SiteState> {
  await mkdir(stateDirectory, { recursive: true, mode: 0o700 });
  const database = openSqlite(path.join(stateDirectory, 'state.db'), migrations);
  return {
    database,
    spec: openSpec(database),
    journal: openJournal(database),
    entries: openBootEntries(database),
    tokens: openBootTokens(database),
    sessions: openSessions(database),
    events: openEvents(database, now),
    bmcPins: openBmcPins(database),
    atomically: (change) => database.transaction(change).immediate(),
    close: () => void database.close(),
  };
}
