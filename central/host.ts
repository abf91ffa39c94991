import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { toWireError } from '#contract/errors.ts';
import { beginAudit, endAudit, namesIn } from './audit.ts';
import { type CentralKeys, makeMissingKeys, noCentre, openKeys } from './join/keys.ts';
import { hasDatabase, recordDatabase, sqliteFile } from './store/database.ts';
import { openStore, type Store } from './store/store.ts';

/** The centre's directory as the commands on its host use it, whether the centre runs or not. */
export interface CentralHost {
  store: Store;
  keys: CentralKeys;
}

/**
 * Opens a centre's directory for the time of `work`. It makes nothing: a mistyped directory must not become a second CA.
 * @throws RailheadError NOT_FOUND when no centre was made there
 */
export async function onHost<Value>(
  directory: string,
  work: (host: CentralHost) => Promise<Value>,
): Promise<Value> {
  const keys = await openKeys(directory);
  if (!hasDatabase(directory)) throw noCentre(directory, sqliteFile(directory));
  const store = await openStore(directory);
  try {
    return await work({ store, keys });
  } finally {
    await store.destroy();
  }
}

/**
 * Carries out what changes something: it is written down before it acts, and how it ended after, with the ids of what `work` returns.
 * @throws RailheadError NOT_FOUND when no centre was made there, or what `work` throws
 */
export function actOnHost(
  directory: string,
  act: HostAct,
  work: (host: CentralHost) => Promise<unknown>,
): Promise<void> {
  return onHost(directory, async (host) => {
    const { command, tenantId } = act;
    const subject = { ...namesIn(act.subject), ...loginUser() };
    const auditId = await beginAudit(host.store, {
      actor: `host:${userInfo().username}`,
      method: `railhead central ${command}`,
      action: 'host',
      scope: 'host',
      ...(tenantId === undefined ? {} : { tenantId }),
      subject,
    });
    try {
      const value = await work(host);
      await endAudit(host.store, auditId, 'ok', { ...subject, ...namesIn(value) });
    } catch (error) {
      await endAudit(host.store, auditId, toWireError(error).code);
      throw error;
    }
  });
}

/** A command on the host that changes something. */
export interface HostAct {
  /** As it is typed after `railhead central`. */
  command: string;
  tenantId?: string;
  /** The ids and names that it was given. */
  subject: Record<string, unknown>;
}

/** Who logged in before he became this user, where the kernel knows (audit's login uid). */
function loginUser(): { loginUserId?: string } {
  const unset = String(2 ** 32 - 1);
  try {
    const uid = readFileSync('/proc/self/loginuid', 'utf8').trim();
    return uid === unset || uid === '' ? {} : { loginUserId: uid };
  } catch {
    return {};
  }
}

/**
 * Makes what a centre's directory lacks, keys and database; returns the names of the keys that are new. `database` is the URL of
 * the PostgreSQL database that it is to keep its books in; without one, it stays with what it has.
 */
export async function makeCentre(directory: string, database?: string): Promise<string[]> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (database !== undefined) await recordDatabase(directory, database);
  const made = await makeMissingKeys(directory);
  await (await openStore(directory)).destroy();
  return made;
}
