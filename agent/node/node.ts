import { readFile } from 'node:fs/promises';
import { type Log, openLog } from '#base/log.ts';
import { type Closable, closeAll } from '#base/shutdown.ts';
import { version } from '#base/version.ts';
import { type KeptIdentity, keepIdentity } from '../join/keptIdentity.ts';
import { startRenewing } from '../join/renewing.ts';
import { keepRevocations } from '../join/revocations.ts';
import { trustExchange } from '../join/trustExchange.ts';
import { connectCentre } from '../site/link/centreClient.ts';
import { createProgressBox } from '../site/link/progress.ts';
import { repeatForever } from '../site/link/retry.ts';
import { createWake } from '../site/wake.ts';
import type { NodeConfig } from './config.ts';
import { openJournal } from './operations/journal.ts';
import { reporting } from './operations/reporting.ts';
import { startRunner } from './operations/runner.ts';
import { polling } from './polling.ts';
import { openKeptSpec } from './specFile.ts';

/**
 * Starts the agent of an installed OS: it holds a long poll at the centre, over mutual TLS in the name of its node, keeps the desired
 * state that it is told, carries out operations that the centre signed for it, and renews its certificate. While the centre is away it keeps
 * trying; once the centre has revoked it, it does nothing more. `root` is where `/sys` and `/proc` are: `/` but in tests.
 * @throws RailheadError INVALID_STATE when this machine has not joined as a node
 */
export async function startNode(config: NodeConfig, root = '/'): Promise<Closable> {
  const log = openLog('bcd', config.logLevel);
  const kept = await keepIdentity(config.stateDirectory, 'node');
  if (kept.current.revoked === undefined) return startWork(config, kept, root, log);
  log.error({ revoked: kept.current.revoked }, 'this node was revoked: join again with a new token');
  const idle = setInterval(() => {}, 2 ** 30);
  return { close: () => clearInterval(idle) };
}

async function startWork(config: NodeConfig, kept: KeptIdentity, root: string, log: Log): Promise<Closable> {
  const { nodeId } = kept.current;
  const spec = await openKeptSpec(config.stateDirectory);
  const journal = await openJournal(config.stateDirectory);
  const revocations = await keepRevocations(config.stateDirectory, kept);
  const server = (config.central.url ?? kept.current.server).replace(/\/+$/, '');
  const client = connectCentre(server, kept);
  const stop = new AbortController();
  const { signal } = stop;
  log.info({ version, nodeId, server, generation: spec.generation() }, 'node agent starts');
  const trust = trustExchange(kept, revocations, log);
  const news = createWake();
  const box = createProgressBox(news.wake);
  const runner = startRunner({ kept, journal, root, progress: box.add, ended: news.wake, signal, log });
  const bootId = await readBootId();
  const poll = polling({ nodeId, bootId, client, trust, spec, journal, runner, signal, log });
  const report = reporting({ client, journal, progress: box, spec, news, signal });
  const loops = Promise.all([
    repeatForever('polling the centre', poll, { signal, log }),
    repeatForever('reporting to the centre', report, { signal, log }),
  ]);
  const renewing = startRenewing({ kept, server, log });
  const forget = kept.onChange(({ revoked }) => {
    if (revoked === undefined || signal.aborted) return;
    log.error({ revoked }, 'this node was revoked: join again with a new token');
    stop.abort();
  });
  const end = async () => {
    forget();
    stop.abort();
    box.close();
    await loops;
    await runner.idle();
  };
  return { close: () => closeAll([client, renewing, { close: end }]) };
}

async function readBootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
}
