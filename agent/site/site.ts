import { ignore } from '#base/errors.ts';
import { openLog } from '#base/log.ts';
import { type Closable, closeAll, type Keep } from '#base/shutdown.ts';
import { version } from '#base/version.ts';
import { PacketTap } from '#bootserver/packetTap.ts';
import type { Operation } from '#contract/operations.ts';
import { keepIdentity } from '../join/keptIdentity.ts';
import { startRenewing } from '../join/renewing.ts';
import { keepRevocations } from '../join/revocations.ts';
import { trustExchange } from '../join/trustExchange.ts';
import { openAdminListener, openLocalSocket } from './admin/listener.ts';
import { pullOnDemand } from './cache/onDemand.ts';
import { openSiteCache } from './cache/openSiteCache.ts';
import type { SiteConfig } from './config.ts';
import { seenMachineNews } from './discovery/news.ts';
import { SeenMachines } from './discovery/seenMachines.ts';
import { confirmOperation } from './drivers/confirmOperation.ts';
import { connectCentre } from './link/centreClient.ts';
import { startLink } from './link/link.ts';
import { createProgressBox } from './link/progress.ts';
import { localSocket } from './localSocket.ts';
import { openMachineListener } from './machines/listener.ts';
import { createPresence } from './machines/presence.ts';
import { mediaPlaces } from './mediaPlaces.ts';
import { machineListens } from './networks.ts';
import { openBmcs } from './openBmcs.ts';
import { openBoot } from './openBoot.ts';
import { startExecutor } from './operations/executor.ts';
import { openAtRest, openSiteSecrets } from './secrets/open.ts';
import { workUntilRevoked } from './standDown.ts';
import { startPruning } from './store/pruning.ts';
import { openState } from './store/state.ts';
import { createWake } from './wake.ts';

/**
 * Starts the site agent: state, cache, boot server, the three doors, the site's own operations, the link to the centre. Closing ends them in
 * reverse; when one cannot start, those before it are closed again.
 * @throws RailheadError INVALID_STATE when the site has not joined, CONFLICT when another agent runs here
 */
export async function startSite(config: SiteConfig, environment: NodeJS.ProcessEnv): Promise<Closable> {
  const started: Closable[] = [];
  try {
    await startParts(config, environment, (part) => {
      started.push(part);
      return part;
    });
  } catch (error) {
    await closeAll(started).catch(() => {});
    throw error;
  }
  return { close: () => closeAll(started) };
}

async function startParts(config: SiteConfig, environment: NodeJS.ProcessEnv, keep: Keep): Promise<void> {
  const log = openLog('bcd', config.logLevel);
  log.info({ version, config }, 'site agent starts');
  const { sealer, besideData } = await openAtRest(config, environment, log);
  const kept = await keepIdentity(config.stateDirectory, 'site', besideData ? undefined : sealer);
  const revocations = await keepRevocations(config.stateDirectory, kept);
  const siteId = kept.current.nodeId;
  const state = keep(await openState(config.stateDirectory));
  // The state is ours alone from here on: what `bcd join` or an older key left is encrypted by the newest.
  await kept.change((identity) => identity);
  keep(startPruning(state, log));
  const machines = createWake();
  const news = createWake();
  const cache = keep(await openSiteCache(config, state, news.wake, log));
  const onOperations = config.cache.onDemand
    ? (some: readonly Operation[]) => pullOnDemand(some, cache)
    : ignore;
  onOperations(state.journal.open('ramdisk').map(({ operation }) => operation));
  const progress = keep(createProgressBox(news.wake));
  const nodeOf = (mac: string) => state.spec.nodeByMac(mac)?.nodeId;
  const seen = keep(new SeenMachines({ database: state.database, nodeOf, log }));
  const seenNews = keep(seenMachineNews(seen, news.wake));
  const bootSealer = besideData ? undefined : sealer;
  const tap = new PacketTap();
  const boot = { state, cache, seen, tap, log, siteId, sealer: bootSealer, onEvent: news.wake };
  const bootServer = keep(await openBoot(config, environment, boot));
  const presence = createPresence();
  const { bootOf, leasedTo } = bootServer;
  const imagesUrlAt = (address: string | undefined) => `${bootServer.httpUrlAt(address)}/images`;
  const listens = machineListens(config);
  const parts = {
    siteId,
    imagesUrlAt,
    images: cache,
    bootOf,
    leasedTo,
    kept,
    revocations,
    state,
    presence,
    progress,
    machines,
    news,
    log,
  };
  keep(await openMachineListener(listens, parts));
  const server = config.central.url ?? kept.current.server;
  const client = connectCentre(server, kept);
  const secrets = keep(openSiteSecrets({ state, client, identity: kept.current, sealer, log }));
  const bmcParts = { state, seen, secrets, kept, onEvent: news.wake, log };
  const siteBmcs = await openBmcs(config, environment, bmcParts, keep);
  const admin = {
    ...siteBmcs,
    siteId,
    stateDirectory: config.stateDirectory,
    kept,
    revocations,
    state,
    cache,
    seen,
    tap,
    troubles: bootServer.troubles,
    log,
  };
  keep(await openAdminListener(config.admin.listen, admin));
  keep(await openLocalSocket(localSocket(config), admin));
  const startWork = () => {
    const { signingKeys } = kept;
    const { bmcs, requests } = siteBmcs;
    const executor = startExecutor({
      ...{ siteId, signingKeys, state, cache, bmcs, secrets },
      mediaPlaces: mediaPlaces(config.bmc.mediaUrl, bootServer),
      onResult: news.wake,
      log,
    });
    const trust = trustExchange(kept, revocations, log);
    const { mediaFrom } = config.bmc;
    const { journal } = state;
    const confirm = (operationId: string) => confirmOperation(operationId, { journal, requests, log });
    const common = {
      siteId,
      signingKeys,
      client,
      trust,
      state,
      cache,
      executor,
      secrets,
      settings: { mediaFrom },
    };
    return [
      executor,
      startLink({ ...common, progress, seen: seenNews, machines, news, onOperations, confirm, log }),
      startRenewing({ kept, server, log }),
    ];
  };
  keep(workUntilRevoked({ kept, state, secrets, machines, log }, startWork));
  log.info({ siteId, machines: listens, boot: bootServer.httpUrl }, 'site agent is ready');
}
