import { readFile } from 'node:fs/promises';
import { stopSignal } from '#base/shutdown.ts';
import { variablesAreThere } from './boot/efivars.ts';
import { keepTime, type SetClocks } from './clock.ts';
import { type Say, sayOnConsole } from './console.ts';
import { locateSite, requestToken } from './discover.ts';
import { readCommandLine } from './join/commandLine.ts';
import { keysOfThisBoot } from './join/keys.ts';
import { readLease } from './join/lease.ts';
import { readMachineFacts } from './join/machine.ts';
import { readTrust } from './join/trust.ts';
import { openJournal } from './operations/journal.ts';
import { runOperations } from './operations/runner.ts';
import { connectSite } from './site/client.ts';
import { openSession } from './site/session.ts';
import { askSiteTime } from './site/time.ts';
import { runStep } from './steps/index.ts';

/** Where the ramdisk finds what it needs; the defaults are those of its image. */
export interface RamdiskOptions {
  trustFile?: string;
  commandLineFile?: string;
  /** Left by `/init`: lines `mac=…`, `site=…`. */
  leaseFile?: string;
  /** Keys and journal of this boot; on a file system in memory. */
  stateDirectory?: string;
  /** Where `/sys` and `/proc` are. */
  root?: string;
  say?: Say;
  setClocks?: SetClocks;
  signal?: AbortSignal;
}

/** The ramdisk agent: joins its site and carries out the centre's operations on this machine until it is stopped. */
export async function runRamdisk(options: RamdiskOptions = {}): Promise<void> {
  const { say = sayOnConsole, signal = abortedByStop(), stateDirectory = '/run/railhead' } = options;
  const { root = '/' } = options;
  const trust = await readTrust(options.trustFile ?? '/etc/railhead/trust.json');
  const keys = await keysOfThisBoot(stateDirectory);
  if (root === '/') await variablesAreThere();
  const facts = await readMachineFacts(root);
  const hints = readCommandLine(await readFile(options.commandLineFile ?? '/proc/cmdline', 'utf8'));
  const lease = await leaseOf(options.leaseFile ?? '/run/railhead/lease');
  const location = locateSite(hints, lease, facts);
  const client = connectSite(location.site, trust.ca, location.address);
  try {
    const time = () => keepTime(() => askSiteTime(location.site, trust.ca, signal), say, options.setClocks);
    const token = async () => location.token ?? (await requestToken(client, location, facts.uuid));
    const session = await openSession({
      client,
      keys,
      trust,
      facts,
      mac: location.mac,
      keepTime: time,
      token,
      say,
      signal,
    });
    say(`joined site ${session.joined.siteId} as node ${session.joined.nodeId}`);
    const journal = await openJournal(stateDirectory);
    await runOperations({ session, trust, keys, journal, say, signal, runStep });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await client.close();
  }
}

function abortedByStop(): AbortSignal {
  const stop = new AbortController();
  stopSignal().then((name) => stop.abort(new Error(`stopped by ${name}`)));
  return stop.signal;
}

async function leaseOf(file: string) {
  return readLease(await readFile(file, 'utf8').catch(() => ''));
}
