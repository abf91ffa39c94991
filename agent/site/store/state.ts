import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from '#base/errors.ts';
import { openSqlite, type Sqlite } from '#base/sqlite.ts';
import { RailheadError } from '#contract/errors.ts';
import { type BmcHooks, openBmcHooks } from './bmcHooks.ts';
import { type BmcLogs, openBmcLogs } from './bmcLogs.ts';
import { type BmcMemories, openBmcMemories } from './bmcMemories.ts';
import { type BmcPins, openBmcPins } from './bmcPins.ts';
import { type BootEntries, openBootEntries } from './bootEntries.ts';
import { type BootTokens, openBootTokens } from './bootTokens.ts';
import { type CacheCatalog, openCacheCatalog } from './cacheCatalog.ts';
import { type CachePins, openCachePins } from './cachePins.ts';
import { type CipherSuites, openCipherSuites } from './cipherSuites.ts';
import { openEvents } from './events.ts';
import { type GatheredEvents, gatherEvents } from './gatheredEvents.ts';
import { type Journal, openJournal } from './journal.ts';
import { type DeployedLoaders, openLoaders } from './loaders.ts';
import { lockState } from './lock.ts';
import { type MediaUrls, openMediaUrls } from './mediaUrls.ts';
import { openRecordings, type Recordings } from './recordings.ts';
import { migrations } from './schema.ts';
import { openSessions, type Sessions } from './sessions.ts';
import { openSpec, type SpecStore } from './spec.ts';
import { openSshKeys, type SshKeys } from './sshKeys.ts';

/** Everything a site must not lose, in one SQLite file; the boot server's leases are in `leaseFile`. */
export interface SiteState {
  database: Sqlite;
  /** For the boot server alone. */
  leaseFile: string;
  spec: SpecStore;
  journal: Journal;
  entries: BootEntries;
  tokens: BootTokens;
  sessions: Sessions;
  events: GatheredEvents;
  bmcHooks: BmcHooks;
  bmcLogs: BmcLogs;
  bmcPins: BmcPins;
  bmcMemories: BmcMemories;
  cipherSuites: CipherSuites;
  sshKeys: SshKeys;
  recordings: Recordings;
  loaders: DeployedLoaders;
  cachePins: CachePins;
  cacheCatalog: CacheCatalog;
  mediaUrls: MediaUrls;
  /** Runs `change` as one transaction: all of it is kept or nothing. */
  atomically<Result>(change: () => Result): Result;
  close(): void;
}

/** @throws RailheadError CONFLICT when another agent has the directory open, INVALID_CONFIG when it cannot be made */
export async function openState(stateDirectory: string, now: () => number = Date.now): Promise<SiteState> {
  await makeDirectory(stateDirectory);
  const lock = lockState(stateDirectory);
  const database = openSqlite(path.join(stateDirectory, 'state.db'), migrations);
  // What is forgotten may have been a secret: its bytes go too, not just the way to them.
  database.pragma('secure_delete = ON');
  const events = gatherEvents(openEvents(database, now), database);
  return {
    database,
    leaseFile: path.join(stateDirectory, 'leases.db'),
    spec: openSpec(database),
    journal: openJournal(database),
    entries: openBootEntries(database),
    tokens: openBootTokens(database),
    sessions: openSessions(database),
    events,
    bmcHooks: openBmcHooks(database),
    bmcLogs: openBmcLogs(database),
    bmcPins: openBmcPins(database),
    bmcMemories: openBmcMemories(database),
    cipherSuites: openCipherSuites(database),
    sshKeys: openSshKeys(database),
    recordings: openRecordings(database),
    loaders: openLoaders(database),
    cachePins: openCachePins(database),
    cacheCatalog: openCacheCatalog(database),
    mediaUrls: openMediaUrls(database),
    atomically: (change) => database.transaction(change).immediate(),
    close: () => {
      events.flush();
      database.close();
      lock.close();
    },
  };
}

async function makeDirectory(stateDirectory: string): Promise<void> {
  await mkdir(stateDirectory, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    const reason = systemCode(error) ?? 'unknown';
    const message = `stateDirectory: ${stateDirectory} cannot be made (${reason})`;
    throw new RailheadError('INVALID_CONFIG', message, { path: 'stateDirectory', reason }, error);
  });
}
