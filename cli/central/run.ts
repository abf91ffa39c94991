import { readFile } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { known } from '#base/known.ts';
import { forbidMemoryDumps } from '#base/libc.ts';
import { type Log, openLog } from '#base/log.ts';
import { closeAll, stopSignal } from '#base/shutdown.ts';
import { checkKeep, describeKeep, type KeepDays } from '#central/retention/keep.ts';
import { type CentralOptions, startCentral } from '#central/start.ts';
import type { UserDataSettings } from '#central/userData/settings.ts';
import { RailheadError } from '#contract/errors.ts';
import {
  collect,
  databaseOption,
  duration,
  hostFolder,
  httpUrl,
  integer,
  keptDays,
  listenOption,
  text,
} from './options.ts';

interface RunFlags {
  directory: string;
  database?: string;
  apiListen: { host: string; port: number };
  apiTls?: true;
  apiPlain?: true;
  agentsListen: { host: string; port: number };
  trustProxy?: string[];
  tokenRate: number;
  advertise?: string;
  name?: string[];
  bcd?: string;
  bcdUrl?: string;
  bcdSha256?: string;
  templates?: string;
  hardwareProfiles?: string;
  tokenTtl?: number;
  keepEvents?: number;
  keepConsole?: number;
  keepWorkflows?: number;
  keepAudit?: number;
  allowUnsignedImages?: true;
  logLevel: string;
}

export function runCommand(): Command {
  return hostFolder(new Command('run'))
    .description('run the centre until SIGINT or SIGTERM')
    .addOption(databaseOption())
    .addOption(listenOption('--api-listen <host:port>', "the operators' API", '127.0.0.1:8080'))
    .option('--api-tls', "serve the API over TLS by the centre's CA")
    .option('--api-plain', 'serve plain HTTP beyond loopback too: a proxy before the API speaks TLS')
    .addOption(listenOption('--agents-listen <host:port>', "the agents' listener", '0.0.0.0:8443'))
    .option('--trust-proxy <address>', 'a proxy before the API whose X-Forwarded-For is believed', collect)
    .option(
      '--token-rate <number>',
      'requests a second of one token, ten times as many at once',
      integer,
      100,
    )
    .option('--advertise <url>', 'base URL by which agents reach the centre', httpUrl)
    .option('--name <name>', 'a further name or address for the certificates', collect)
    .option('--bcd <file>', 'the bcd executable to publish at the API for deployed OSes')
    .option(
      '--bcd-url <url>',
      'where a deployed OS downloads bcd, when it is another place',
      text(/^https?:\/\/[^\s'"\\]+$/),
    )
    .option('--bcd-sha256 <digest>', 'its digest', text(/^[0-9a-f]{64}$/))
    .option('--templates <folder>', 'custom user data templates')
    .option('--hardware-profiles <file>', 'what machines of one kind are driven by, as JSON')
    .option(
      '--token-ttl <duration>',
      'how long the join token of a deployed OS is valid (default: 2h)',
      duration,
    )
    .option(
      '--keep-events <days>',
      "how long what happened to a machine is kept: days, e.g. 90d, or forever; a workflow's events from its end on (default: 90d)",
      keptDays,
    )
    .option(
      '--keep-console <days>',
      'how long what recorded consoles printed is kept (default: 30d, as long as events at most)',
      keptDays,
    )
    .option(
      '--keep-workflows <days>',
      'how long workflows that have ended are kept (default: 365d, as long as events at least)',
      keptDays,
    )
    .option('--keep-audit <days>', 'how long the record of changes is kept (default: forever)', keptDays)
    .option('--allow-unsigned-images', "let a tenant's own unsigned OS images deploy; for development only")
    .addOption(
      new Option('--log-level <level>', 'the least severe level that is logged')
        .choices(['debug', 'info', 'warn', 'error', 'silent'])
        .default('info'),
    )
    .action(runCentral);
}

async function runCentral(flags: RunFlags): Promise<void> {
  const { directory } = flags;
  const log = openLog('railhead-central', flags.logLevel);
  forbidMemoryDumps();
  const options = await centralOptions(flags, log);
  const central = await startCentral(options);
  const keep = describeKeep(checkKeep(options.keep));
  log.info({ api: central.apiUrl, agents: central.agentsUrl, directory, keep }, 'the centre runs');
  log.info({ signal: await stopSignal() }, 'the centre stops');
  await closeAll([central]);
}

async function centralOptions(flags: RunFlags, log: Log): Promise<CentralOptions> {
  const { directory, database, advertise, bcd, hardwareProfiles: profiles, tokenRate } = flags;
  return {
    directory,
    ...known({ database, advertise, executable: bcd }),
    api: { ...flags.apiListen, ...apiSpeech(flags) },
    rates: { token: { perSecond: tokenRate, burst: 10 * tokenRate } },
    agents: flags.agentsListen,
    names: certificateNames(flags),
    images: allowedImages(flags, log),
    userData: userDataOptions(flags),
    keep: keptTimes(flags),
    ...(profiles !== undefined && { hardwareProfiles: await jsonFile(profiles) }),
    log,
  };
}

function userDataOptions({ bcdUrl, bcdSha256, templates, tokenTtl }: RunFlags): UserDataSettings {
  const tokenTtlSeconds = tokenTtl === undefined ? undefined : Math.ceil(tokenTtl / 1000);
  return known({ bcdUrl, bcdSha256, templates, tokenTtlSeconds });
}

function keptTimes({ keepEvents, keepConsole, keepWorkflows, keepAudit }: RunFlags): Partial<KeepDays> {
  return known({ events: keepEvents, console: keepConsole, workflows: keepWorkflows, audit: keepAudit });
}

function apiSpeech({ apiTls, apiPlain, trustProxy }: RunFlags) {
  return { tls: apiTls === true, plain: apiPlain === true, ...known({ trustProxy }) };
}

function allowedImages({ allowUnsignedImages }: RunFlags, log: Log): { allowUnsigned: boolean } {
  if (allowUnsignedImages === true)
    log.warn('unsigned OS images deploy: this centre is for development only');
  return { allowUnsigned: allowUnsignedImages === true };
}

async function jsonFile(file: string): Promise<Record<string, unknown>> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    const message = `${file} cannot be read as JSON: ${(error as Error).message}`;
    throw new RailheadError('INVALID_CONFIG', message, { path: 'hardware-profiles' }, error);
  }
}

/** What the certificates are for: the advertised host, the listeners' addresses, and the names given. */
function certificateNames({ advertise, apiListen, agentsListen, name = [] }: RunFlags): string[] {
  const advertised = advertise === undefined ? [] : [new URL(advertise).hostname.replace(/^\[|\]$/g, '')];
  const bound = [agentsListen.host, apiListen.host].filter((host) => host !== '0.0.0.0' && host !== '::');
  return [...new Set([...advertised, ...name, ...bound, 'localhost', '127.0.0.1'])];
}
