import { mkdir } from 'node:fs/promises';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type Log, silentLog } from '#base/log.ts';
import { openRingSealer } from '#base/sealing.ts';
import { type Closable, closeAll } from '#base/shutdown.ts';
import { checkConfigUnits } from '#contract/hostConfig/configUnits.ts';
import type { ConfigUnit } from '#contract/hostConfig/desired.ts';
import type { Door } from '#doors/door.ts';
import { RateLimiter } from '#doors/rateLimiter.ts';
import { modernTls } from '#doors/tls.ts';
import { openAgentsServer, renewServerTls } from './agents/server.ts';
import { type Groups, inProcessApi } from './api/inProcess.ts';
import { refusePlainHttp } from './api/plainHttp.ts';
import { type PublishedFile, publishFile } from './api/publishedFile.ts';
import { openApiServer } from './api/server.ts';
import type { CentralContext, CentralTimes } from './context.ts';
import { groups } from './groups/index.ts';
import { makeCentre } from './host.ts';
import { watchHostChanges } from './hostChanges.ts';
import type { ImageSettings } from './images/verifier.ts';
import { issueServer, shownChain } from './join/authority.ts';
import { openKeys } from './join/keys.ts';
import { watchKeys } from './join/watchKeys.ts';
import { checkHardwareProfiles } from './metal/hardwareProfiles.ts';
import { openShippedProfiles } from './profiles/shipped.ts';
import { type CentralRates, defaultRates } from './rates.ts';
import { checkKeep, type KeepDays } from './retention/keep.ts';
import { startRetention } from './retention/start.ts';
import { openSignals, type Signals } from './signals.ts';
import { startSiteCaches } from './siteCaches/start.ts';
import { databaseOf } from './store/database.ts';
import { instanceId } from './store/instance.ts';
import { lockCentre } from './store/lock.ts';
import { shareSignals } from './store/sharedSignals.ts';
import { openStore } from './store/store.ts';
import { checkUserData, type UserDataSettings } from './userData/settings.ts';
import { openEngine } from './workflows/engine.ts';

export interface CentralOptions {
  /** Holds the database and, in `keys/`, the keys. Made when missing. */
  directory: string;
  /** URL of the PostgreSQL database to keep the books in from now on. Default: what the directory has, else SQLite in it. */
  database?: string;
  /** The operators' API; `tls` serves it by a certificate of the centre's CA for `names`; `trustProxy` are the addresses of proxies before it; `plain`: it may speak plain HTTP beyond loopback, since one of them speaks TLS. */
  api: { host: string; port: number; tls?: boolean; plain?: boolean; trustProxy?: string[] };
  /** The agents' listener: always TLS. */
  agents: { host: string; port: number };
  /** Host names and addresses that clients reach the centre by: they go into its certificates. */
  names: readonly string[];
  /** Base URL of the agents' listener as agents reach it. Default: the first of `names` and the port that was bound. */
  advertise?: string;
  userData?: UserDataSettings;
  /** How images are checked; default by the allowlists, signed ones alone. */
  images?: ImageSettings;
  /** Units of host configuration beside the built-in ones; hosts apply those that their `bcd` knows. */
  configUnits?: readonly ConfigUnit[];
  /** The `bcd` executable for deployed OSes: served by the API at `/bcd/<sha256>`, which becomes `userData.bcdUrl` by default. */
  executable?: string;
  /** Profiles that ship beside the centre's own. */
  profiles?: readonly unknown[];
  hardwareProfiles?: Readonly<Record<string, unknown>>;
  times?: Partial<CentralTimes>;
  rates?: Partial<CentralRates>;
  /** For how many days what is over is kept. */
  keep?: Partial<KeepDays>;
  log?: Log;
}

/** A running centre. */
export interface Central {
  /** Base URL of the API. */
  apiUrl: string;
  /** Base URL of the agents' listener. */
  agentsUrl: string;
  /** The methods of the API, for who embeds the centre. */
  groups: Groups;
  /** Ends the long polls, stops the engine between two facts, and closes everything. */
  close(): Promise<void>;
}

const defaultTimes: CentralTimes = {
  retryDelayMs: 5_000,
  claimMs: 30_000,
  cancelGraceMs: 30_000,
  resumeGraceMs: 120_000,
  inventoryEveryMs: 5_000,
  removeEveryMs: 3_600_000,
};

/**
 * Starts the centre on one directory: opens keys and store, binds both listeners, then takes up the workflows that ran.
 * @throws RailheadError INVALID_CONFIG, CONFLICT when another centre runs there; the system's error when a listener cannot be bound. Nothing
 *   is left open then
 */
export async function startCentral(options: CentralOptions): Promise<Central> {
  refusePlainHttp(options.api);
  await mkdir(options.directory, { recursive: true, mode: 0o700 });
  const started: Closable[] = [lockCentre(options.directory)];
  try {
    return await assemble(options, started);
  } catch (error) {
    await closeAll(started);
    throw error;
  }
}

async function assemble(options: CentralOptions, started: Closable[]): Promise<Central> {
  const executable = options.executable === undefined ? undefined : await publishFile(options.executable);
  if (executable !== undefined) started.push(executable);
  const context = await openContext(options);
  started.push({ close: () => context.store.destroy() });
  if ('close' in context.signals) started.push(context.signals as Closable);
  const stopping = new AbortController();
  const agents = await openAgentsServer(context, options.names, stopping.signal);
  const engine = openEngine(context);
  const door = { tls: await apiTls(context, options), executable, trustProxy: options.api.trustProxy };
  const methods = { ...context, engine, refusals: new RateLimiter(context.rates.refusals) };
  const api = await openApiServer(methods, groups, door, stopping.signal);
  started.push(agents, api, engine, { close: () => stopping.abort() });
  const agentsAddress = await listen(agents, options.agents);
  const apiAddress = await listen(api, options.api);
  const apiUrl = url(options.api.tls === true ? 'https' : 'http', apiAddress);
  context.advertise = options.advertise ?? defaultAdvertise(options, agentsAddress);
  if (executable !== undefined) offerExecutable(context, executable, apiUrl);
  started.push(await startSiteCaches(context), startRetention(context));
  void watchHostChanges(context, stopping.signal);
  const onKeys = () => renewTls(context, options, agents, api);
  void watchKeys(options.directory, context, onKeys, stopping.signal);
  await engine.resume();
  return {
    apiUrl,
    agentsUrl: url('https', agentsAddress),
    groups: inProcessApi(methods, groups, stopping.signal),
    close: () => closeAll(started),
  };
}

function defaultAdvertise({ names }: CentralOptions, { address, port }: AddressInfo): string {
  return `https://${names[0] ?? address}:${port}`;
}

/** Deployed OSes are told of the published executable, unless another place was configured. */
function offerExecutable({ userData }: CentralContext, { digest }: PublishedFile, apiUrl: string): void {
  userData.bcdUrl ??= `${apiUrl}/bcd/${digest}`;
  userData.bcdSha256 ??= digest;
}

async function openContext(options: CentralOptions): Promise<CentralContext> {
  const { directory, log = silentLog() } = options;
  const keep = checkKeep(options.keep);
  const made = await makeCentre(directory, options.database);
  if (made.length > 0)
    log.warn({ directory, made }, 'made new keys: agents that know other ones do not trust them');
  const keys = await openKeys(directory);
  return {
    store: await openStore(directory),
    instance: await instanceId(directory),
    keys,
    sealer: openRingSealer(() => [keys.atRest, ...keys.older.atRest]),
    signals: openCentreSignals(directory, log),
    log,
    advertise: options.advertise ?? '',
    userData: checkUserData({ ...options.userData }),
    images: options.images ?? {},
    configUnits: checkConfigUnits(options.configUnits ?? []),
    shippedProfiles: openShippedProfiles(options.profiles),
    hardwareProfiles: checkHardwareProfiles(options.hardwareProfiles),
    times: { ...defaultTimes, ...options.times },
    rates: { ...defaultRates, ...options.rates },
    keep,
  };
}

function openCentreSignals(directory: string, log: Log): Signals {
  const database = databaseOf(directory);
  const local = openSignals();
  return database.dialect === 'sqlite' ? local : shareSignals(local, database.url, log);
}

async function apiTls({ keys }: CentralContext, { api, names }: CentralOptions) {
  if (api.tls !== true) return undefined;
  const validMs = 365 * 24 * 3_600_000;
  const issued = await issueServer(keys.authority, { uri: 'urn:railhead:api', names, validMs });
  return { ...modernTls, key: issued.privateKey, cert: shownChain(keys.authority, issued) };
}

async function renewTls(
  context: CentralContext,
  options: CentralOptions,
  agents: Door,
  api: Door,
): Promise<void> {
  await renewServerTls(context, agents, options.names);
  const tls = await apiTls(context, options);
  if (tls !== undefined) (api.server as unknown as HttpsServer).setSecureContext(tls);
}

async function listen(door: Door, { host, port }: { host: string; port: number }): Promise<AddressInfo> {
  await door.listen({ host, port });
  return door.server.address() as AddressInfo;
}

function url(scheme: string, { address, port, family }: AddressInfo): string {
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
