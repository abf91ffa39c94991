import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createToken } from '#central/api/tokens.ts';
import { makeCentre, onHost } from '#central/host.ts';
import { addImageSigner } from '#central/images/signers.ts';
import { createJoinToken } from '#central/join/joinTokens.ts';
import { centralPins, type RamdiskTrust, ramdiskTrust } from '#central/join/pins.ts';
import { createSite } from '#central/sites.ts';
import { rootTenant } from '#central/tenants.ts';
import { durationMs } from '#contract/durations.ts';
import type { Pins } from '#contract/join.ts';
import { rejoinTemplate } from '../os/userData.ts';
import { type Api, connectApi } from './api.ts';
import { fromSource, type ManagedProcess, startProcess } from './managedProcess.ts';
import { waitForHttp } from './waitForHttp.ts';

const host = '10.79.0.2';
const agentsUrl = `https://${host}:8443`;
const apiUrl = `http://${host}:8080`;

/** The name of the user data template by which the demo's OS announces itself. */
export const userDataTemplate = 'demo-os.sh.hbs';

/** What the centre's host prepares before the centre runs: keys, a signer, a site that may join, an operator's token. */
export interface CentreBooks {
  directory: string;
  siteId: string;
  joinToken: string;
  operatorToken: string;
  pins: Pins;
  trust: RamdiskTrust;
}

export async function prepareCentre(
  directory: string,
  signer: { id: string; publicKey: string },
): Promise<CentreBooks> {
  await mkdir(path.join(directory, 'templates'), { recursive: true, mode: 0o700 });
  await makeCentre(directory);
  return onHost(directory, async ({ store, keys }) => {
    const trust = ramdiskTrust(keys, agentsUrl);
    await writeFile(path.join(directory, 'templates', userDataTemplate), rejoinTemplate(trust.ca));
    await addImageSigner(store, { tenantId: rootTenant, signerId: signer.id, publicKey: signer.publicKey });
    const { site_id: siteId } = await createSite(store, 'rack');
    const { token: joinToken } = await createJoinToken(store, {
      role: 'site',
      nodeId: siteId,
      validMs: durationMs('1h'),
    });
    const grants = [{ action: 'compute:*', scopeKind: 'compute-fleet', scopeId: '*' }] as const;
    const { token: operatorToken } = await createToken(store, {
      name: 'rack',
      grants,
      validMs: durationMs('24h'),
    });
    return { directory, siteId, joinToken, operatorToken, pins: centralPins(keys), trust };
  });
}

/** The centre as a process in its namespace, which can be stopped and started again. */
export interface Centre {
  readonly agentsUrl: string;
  readonly api: Api;
  readonly process: ManagedProcess;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface CentreOptions {
  namespace: string;
  books: CentreBooks;
  /** The `bcd` executable, which the centre publishes for deployed OSes. */
  bcd: string;
  logFile: string;
}

export async function startCentre(options: CentreOptions): Promise<Centre> {
  let process = launch(options);
  await reachable(process);
  return {
    agentsUrl,
    api: connectApi(apiUrl, options.books.operatorToken),
    get process() {
      return process;
    },
    async start() {
      process = launch(options);
      await reachable(process);
    },
    stop: () => process.stop(),
  };
}

function launch({ namespace, books: { directory }, bcd, logFile }: CentreOptions): ManagedProcess {
  const listeners = [
    '--api-listen',
    `${host}:8080`,
    // The rack's networks are namespaces of this host.
    '--api-plain',
    '--agents-listen',
    `${host}:8443`,
    '--advertise',
    agentsUrl,
  ];
  const forOses = ['--bcd', bcd, '--templates', path.join(directory, 'templates')];
  const args = ['central', 'run', '--directory', directory, ...listeners, ...forOses];
  return startProcess({ namespace, command: fromSource('cli/railhead.ts', args), logFile });
}

async function reachable(process: ManagedProcess): Promise<void> {
  await Promise.race([waitForHttp(`${apiUrl}/openapi.json`, 30_000), process.died()]);
}
