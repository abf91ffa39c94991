import { readFile } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { forbidMemoryDumps } from '#base/libc.ts';
import { type Log, openLog } from '#base/log.ts';
import { closeAll, stopSignal } from '#base/shutdown.ts';
import { actOnHost, makeCentre, onHost } from '#central/host.ts';
import { centralPins, ramdiskTrust } from '#central/join/pins.ts';
import { startCentral } from '#central/start.ts';
import { RailheadError } from '#contract/errors.ts';
import { agentsCommand, revokeCommand } from './central/agents.ts';
import { auditCommand } from './central/audit.ts';
import { backupCommand } from './central/backup.ts';
import { joinTokenCommand } from './central/joinToken.ts';
import { keysCommand } from './central/keys.ts';
import {
  collect,
  databaseOption,
  duration,
  hostFolder,
  httpUrl,
  integer,
  listenOption,
  printJson,
  text,
} from './central/options.ts';
import { signersCommand } from './central/signers.ts';
import { sitesCommand } from './central/sites.ts';
import { tokenCommand } from './central/token.ts';
import { withdrawCommand } from './central/withdraw.ts';

/** `railhead central …`: runs the centre, and what is done on its host alone. */
export function centralCommand(): Command {
  return new Command('central')
    .description('the centre: run it, and manage on its host what no API may')
    .addCommand(runCommand(), { isDefault: true })
    .addCommand(initCommand())
    .addCommand(pinsCommand())
    .addCommand(trustCommand())
    .addCommand(tokenCommand())
    .addCommand(joinTokenCommand())
    .addCommand(sitesCommand())
    .addCommand(signersCommand())
    .addCommand(withdrawCommand())
    .addCommand(agentsCommand())
    .addCommand(revokeCommand())
    .addCommand(auditCommand())
    .addCommand(backupCommand())
    .addCommand(keysCommand());
}

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
  allowUnsignedImages?: true;
  logLevel: string;
}

function runCommand(): Command {
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
    .option('--allow-unsigned-images', "let a tenant's own unsigned OS images deploy; for development only")
    .addOption(
      new Option('--log-level <level>', 'the least severe level that is logged')
        .choices(['debug', 'info', 'warn', 'error', 'silent'])
        .default('info'),
    )
    .action(runCentral);
}

async function runCentral(flags: RunFlags): Promise<void> {
  const {
    directory,
    database,
    apiListen,
    agentsListen,
    advertise,
    bcd,
    bcdUrl,
    bcdSha256,
    templates,
    tokenTtl,
    trustProxy,
    tokenRate,
  } = flags;
  const log = openLog('railhead-central', flags.logLevel);
  forbidMemoryDumps();
  const central = await startCentral({
    directory,
    ...(database !== undefined && { database }),
    api: { ...apiListen, ...apiSpeech(flags), ...(trustProxy !== undefined && { trustProxy }) },
    rates: { token: { perSecond: tokenRate, burst: 10 * tokenRate } },
    agents: agentsListen,
    names: certificateNames(flags),
    ...(advertise !== undefined && { advertise }),
    ...(bcd !== undefined && { executable: bcd }),
    images: allowedImages(flags, log),
    userData: {
      ...(bcdUrl !== undefined && { bcdUrl }),
      ...(bcdSha256 !== undefined && { bcdSha256 }),
      ...(templates !== undefined && { templates }),
      ...(tokenTtl !== undefined && { tokenTtlSeconds: Math.ceil(tokenTtl / 1000) }),
    },
    ...(flags.hardwareProfiles !== undefined && { hardwareProfiles: await jsonFile(flags.hardwareProfiles) }),
    log,
  });
  log.info({ api: central.apiUrl, agents: central.agentsUrl, directory }, 'the centre runs');
  log.info({ signal: await stopSignal() }, 'the centre stops');
  await closeAll([central]);
}

function apiSpeech({ apiTls, apiPlain }: RunFlags): { tls: boolean; plain: boolean } {
  return { tls: apiTls === true, plain: apiPlain === true };
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

function initCommand(): Command {
  return hostFolder(new Command('init'))
    .description('make keys and database where they are missing, before the first run; prints what was made')
    .addOption(databaseOption())
    .action(async ({ directory, database }: { directory: string; database?: string }) => {
      const made = await makeCentre(directory, database);
      await actOnHost(directory, { command: 'init', subject: {} }, async ({ keys }) => {
        printJson({ directory, made, pins: centralPins(keys) });
      });
    });
}

function pinsCommand(): Command {
  return hostFolder(new Command('pins'))
    .description("the three pins that 'bcd join' must be given")
    .action(({ directory }: { directory: string }) =>
      onHost(directory, async ({ keys }) => printJson(centralPins(keys))),
    );
}

function trustCommand(): Command {
  return hostFolder(new Command('trust'))
    .description('trust.json for the ramdisk image: the CA and the key that signs operations; no secret')
    .option('--central-url <url>', 'base URL of the centre, for the image to know', httpUrl)
    .action(({ directory, centralUrl }: { directory: string; centralUrl?: string }) =>
      onHost(directory, async ({ keys }) => printJson(ramdiskTrust(keys, centralUrl))),
    );
}
