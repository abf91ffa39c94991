import { generateKeyPairSync } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'smol-toml';
import { newAuthority, openAuthority } from '#central/join/authority.ts';
import { fromSource, type ManagedProcess, startProcess } from '#rack/line/managedProcess.ts';
import { joinByHand } from './joinByHand.ts';
import { fakeIpxe } from './loopbackSettings.ts';

export interface LoneSiteOptions {
  namespace: string;
  /** For its configuration, state and log; a second start in it finds what the first left. */
  directory: string;
  /** The section of the configuration. */
  provisioning: object;
  /** What is started in place of `bcd site` from source. */
  nodeFlags?: readonly string[];
}

/** `bcd site` as operators start it, in a network namespace: it has joined a centre that is away. */
export async function startLoneSite(options: LoneSiteOptions): Promise<ManagedProcess & { logFile: string }> {
  const { directory, namespace, nodeFlags = [] } = options;
  const configFile = await configure(options);
  const logFile = path.join(directory, 'site.log');
  await writeFile(logFile, '');
  const [node, ...args] = fromSource('agent/bcd.ts', ['site', '--config', configFile]);
  const site = startProcess({ namespace, command: [node, ...nodeFlags, ...args], logFile });
  await Promise.race([isReady(logFile), site.died()]);
  return Object.assign(site, { logFile });
}

async function configure({ directory, provisioning }: LoneSiteOptions): Promise<string> {
  const configFile = path.join(directory, 'config.toml');
  const stateDirectory = path.join(directory, 'state');
  if (await readFile(configFile).catch(() => undefined)) return configFile;
  const ipxeDirectory = path.join(directory, 'ipxe');
  await fakeIpxe(ipxeDirectory);
  await mkdir(stateDirectory, { recursive: true, mode: 0o700 });
  const signing = generateKeyPairSync('ed25519').privateKey;
  const centre = { authority: openAuthority(await newAuthority()), signing, url: 'https://127.0.0.1:1' };
  await joinByHand(stateDirectory, 'site_01lone', centre);
  await writeFile(configFile, stringify({ stateDirectory, provisioning, boot: { ipxeDirectory } }));
  return configFile;
}

async function isReady(logFile: string): Promise<void> {
  while (!(await readFile(logFile, 'utf8')).includes('"site agent is ready"')) await delay(50);
}
