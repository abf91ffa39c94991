import path from 'node:path';
import { publicKeyFromJwk } from '#base/jws.ts';
import { type Log, openLog } from '#base/log.ts';
import { type Closable, closeAll } from '#base/shutdown.ts';
import { version } from '#base/version.ts';
import { type ImageCache, openCache } from '#cache/imageCache.ts';
import { type Identity, readIdentity } from '../join/identity.ts';
import { openAdminListener, openLocalSocket } from './admin/listener.ts';
import { type SiteConfig, sizeBytes } from './config.ts';
import { connectCentre } from './link/centreClient.ts';
import { startLink } from './link/link.ts';
import { createProgressBox } from './link/progress.ts';
import { openMachineListener } from './machines/listener.ts';
import { createPresence } from './machines/presence.ts';
import { openBoot } from './openBoot.ts';
import { type BoundNode, createBmcs } from './operations/bmcs.ts';
import { startExecutor } from './operations/executor.ts';
import { bmcCredentials } from './secrets/bmcCredentials.ts';
import { openSiteSecrets, secretPlaces } from './secrets/open.ts';
import { readSourceCa } from './sourceCa.ts';
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

type Keep = <Part extends Closable>(part: Part) => Part;

async function startParts(config: SiteConfig, environment: NodeJS.ProcessEnv, keep: Keep): Promise<void> {
  const log = openLog('bcd', config.logLevel);
  log.info({ version, config }, 'site agent starts');
  const identity = await readIdentity(config.stateDirectory, 'site');
  const siteId = identity.nodeId;
  warnOfExpiry(identity, log);
  const state = keep(await openState(config.stateDirectory));
  keep(startPruning(state, log));
  const cache = keep(await openSiteCache(config, log));
  const { cacheImages = [], withdrawn = [] } = state.spec.current()?.site ?? {};
  cache.desire(cacheImages, withdrawn);

  const machines = createWake();
  const news = createWake();
  const progress = keep(createProgressBox(news.wake));
  const machineUrl = `https://${machineListen(config)}`;
  const boot = { state, cache, machineUrl, log, onEvent: news.wake };
  const bootServer = keep(await openBoot(config, environment, boot));
  const imagesUrl = `${bootServer.httpUrl}/images`;
  const presence = createPresence();
  const parts = { siteId, imagesUrl, state, presence, progress, machines, news, log };
  keep(await openMachineListener(machineListen(config), identity, parts));
  const admin = { siteId, stateDirectory: config.stateDirectory, state, cache, log };
  keep(await openAdminListener(config.admin.listen, admin));
  keep(await openLocalSocket(localSocket(config), admin));

  const client = connectCentre(config.central.url ?? identity.server, identity);
  const secrets = keep(await openSiteSecrets(config, environment, { state, client, identity, log }));
  const places = secretPlaces(config, environment);
  const credentialsOf = (node: BoundNode) => bmcCredentials(node, secrets, places);
  const bmcs = keep(createBmcs({ pins: state.bmcPins, credentialsOf, log }));
  const signingKey = publicKeyFromJwk(identity.signingKey);
  const executor = keep(startExecutor({ siteId, signingKey, state, cache, bmcs, onResult: news.wake, log }));
  keep(
    startLink({ siteId, signingKey, client, state, cache, executor, secrets, progress, machines, news, log }),
  );
  log.info({ siteId, machines: machineListen(config), boot: bootServer.httpUrl }, 'site agent is ready');
}

const warnBeforeMs = 14 * 24 * 3_600_000;

function warnOfExpiry({ expiresAt }: Identity, log: Log): void {
  if (Date.parse(expiresAt) - Date.now() > warnBeforeMs) return;
  log.warn(
    { expiresAt },
    "the site's certificate ends soon: remove identity.json and join again with a new token",
  );
}

async function openSiteCache(config: SiteConfig, log: Log): Promise<ImageCache> {
  const {
    directory = path.join(config.stateDirectory, 'images'),
    quota,
    sourceCaFile,
    parallelPulls,
  } = config.cache;
  const sourceCa = sourceCaFile === undefined ? {} : { sourceCa: await readSourceCa(sourceCaFile) };
  return openCache({ directory, quotaBytes: sizeBytes(quota), parallelPulls, ...sourceCa, log });
}

function machineListen({ machine, provisioning }: SiteConfig): string {
  return machine.listen ?? `${provisioning.address}:8443`;
}

function localSocket({ admin, stateDirectory }: SiteConfig): string {
  return path.resolve(admin.socket ?? path.join(stateDirectory, 'bcd.sock'));
}
