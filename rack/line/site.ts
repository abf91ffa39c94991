import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'smol-toml';
import { run } from '#base/command.ts';
import { architecture } from '../machine/firmware.ts';
import { commandIn } from '../netns.ts';
import { vlanAddress, vlanBridge } from '../network.ts';
import type { Rack } from '../rack.ts';
import type { CentreBooks } from './centre.ts';
import { type ManagedProcess, startProcess } from './managedProcess.ts';
import { waitForHttp } from './waitForHttp.ts';

const address = '10.77.0.1';

export interface SiteOptions {
  rack: Rack;
  /** The `bcd` executable, as a site has it. */
  bcd: string;
  books: CentreBooks;
  centreUrl: string;
  ipxeDirectory: string;
  shimDirectory: string;
  sourceCaFile: string;
  directory: string;
  /** Fields of `[provisioning]` beside, or in place of, the usual ones. */
  provisioning: Readonly<Record<string, unknown>>;
  /** Fields of `[boot]` likewise. */
  boot: Readonly<Record<string, unknown>>;
}

/** The site agent as a process in its namespace, which can be stopped, killed and started again. */
export interface Site {
  readonly process: ManagedProcess;
  readonly logFile: string;
  /** State, configuration and log. */
  readonly directory: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** `kill -9`. */
  kill(): Promise<void>;
}

/** Joins the centre as its site, writes `config.toml`, and starts the agent. It gets the BMCs' credentials from the centre. */
export async function startSite(options: SiteOptions): Promise<Site> {
  const { directory } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await join(options);
  await writeFile(path.join(directory, 'config.toml'), stringify(config(options)));
  const logFile = path.join(directory, 'site.log');
  let process = await launch(options, logFile);
  return {
    logFile,
    directory,
    get process() {
      return process;
    },
    async start() {
      process = await launch(options, logFile);
    },
    stop: () => process.stop(),
    kill: () => process.kill(),
  };
}

async function join({ rack, bcd, books, centreUrl, directory }: SiteOptions): Promise<void> {
  const tokenFile = path.join(directory, 'join-token');
  await writeFile(tokenFile, books.joinToken, { mode: 0o600 });
  const { servingCaPin, joinSigningPin, joinEncryptionPin } = books.pins;
  const pins = [
    '--serving-ca-pin',
    servingCaPin,
    '--join-signing-pin',
    joinSigningPin,
    '--join-encryption-pin',
    joinEncryptionPin,
  ];
  const identity = ['--server', centreUrl, '--token-file', tokenFile, '--node-id', books.siteId];
  const command = [bcd, 'join', ...identity, ...pins, '--state-directory', path.join(directory, 'state')];
  await run(...commandIn(rack.namespaces.site, command));
}

function config(options: SiteOptions): object {
  const { rack, directory, ipxeDirectory, shimDirectory, sourceCaFile, provisioning, boot } = options;
  const vlans = rack.machines.flatMap(({ trunk }) => trunk?.vlans ?? []).map(({ id }) => id);
  return {
    stateDirectory: path.join(directory, 'state'),
    provisioning: {
      interface: 'prov',
      address,
      poolStart: '10.77.0.100',
      poolEnd: '10.77.0.200',
      leaseTime: '10m',
      subnets: [...new Set(vlans)].map(vlanSubnet),
      ...provisioning,
    },
    boot: { ipxeDirectory, shimDirectory, consoles: consoles(rack), ...boot },
    cache: { sourceCaFile, quota: '20GiB' },
  };
}

/** A console that a machine does not have does no harm before the one that it has. */
function consoles({ machines }: Rack): string[] {
  const hasArm = machines.some(({ firmware }) => architecture(firmware) === 'aarch64');
  return [...(hasArm ? ['ttyAMA0'] : []), 'ttyS0,115200'];
}

/** A VLAN of the rack's trunk ports, on a bridge of its own. */
function vlanSubnet(id: number): object {
  const address = vlanAddress(id);
  const host = (last: number) => address.replace(/\d+$/, String(last));
  return { interface: vlanBridge(id), address, poolStart: host(100), poolEnd: host(200) };
}

async function launch({ rack, bcd, directory }: SiteOptions, logFile: string): Promise<ManagedProcess> {
  const namespace = rack.namespaces.site;
  const command = [bcd, 'site', '--config', path.join(directory, 'config.toml')] as const;
  const process = startProcess({ namespace, command: [...command], logFile });
  await Promise.race([waitForHttp('http://127.0.0.1:9090/healthz', 30_000), process.died()]);
  return process;
}
