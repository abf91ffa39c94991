import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stringify } from 'smol-toml';
import { onTestFinished } from 'vitest';
import { parseConfig, type SiteConfig } from '#agent/site/config.ts';
import { startSite } from '#agent/site/site.ts';
import type { Closable } from '#base/shutdown.ts';
import { issueServerIdentity, makeTestCa, selfSignedIdentity } from '../../../fakes/certificates.ts';
import { FakeBmc, serveBmc, user } from '../../../fakes/fakeBmc.ts';
import { loopbackSettings } from '../../../fakes/loopbackSettings.ts';
import { startRawHttps } from '../../../fakes/rawHttpsServer.ts';
import { plainSystem } from '../../../redfish/bmcBench.ts';

/** A configured site agent on the loopback interface, and an image source that it trusts. */
export interface LoopbackSite {
  directory: string;
  stateDirectory: string;
  configFile: string;
  config: SiteConfig;
  httpUrl: string;
  machineUrl: string;
  adminUrl: string;
  /** Where the source has the image, and its digest and size. */
  image: { source: string; digest: string; sizeBytes: number };
  /** Starts the agent in this process; the site has joined before. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export const imageText = 'the bytes of a ramdisk';

export async function configureSite(): Promise<LoopbackSite> {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-site-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const { image, ca } = await serveImage();
  await writeFile(path.join(directory, 'source-ca.pem'), ca);
  const { bootUrl, machineUrl, adminUrl, config: plain } = await loopbackSettings(directory);
  const settings = {
    ...plain,
    boot: { ...plain.boot, consoles: ['ttyS0,115200'] },
    cache: { sourceCaFile: path.join(directory, 'source-ca.pem') },
    secrets: { directory: path.join(directory, 'secrets') },
  };
  const { RAILHEAD_TEST_LOG: wanted } = process.env;
  const configFile = path.join(directory, 'config.toml');
  await writeFile(configFile, stringify({ ...settings, logLevel: wanted ?? 'info' }));
  const config = parseConfig(stringify({ ...settings, logLevel: wanted ?? 'silent' }));
  let site: Closable | undefined;
  const stop = async () => {
    await site?.close();
    site = undefined;
  };
  onTestFinished(stop);
  return {
    directory,
    stateDirectory: config.stateDirectory,
    configFile,
    config,
    httpUrl: bootUrl,
    machineUrl,
    adminUrl,
    image,
    start: async () => {
      site = await startSite(config, {});
    },
    stop,
  };
}

/** A BMC whose credentials the site has, and how a node is bound to it. */
export async function startSiteBmc({ directory }: LoopbackSite) {
  const fake = new FakeBmc(plainSystem);
  const running = await serveBmc(fake, await selfSignedIdentity());
  onTestFinished(() => running.close());
  const secret = path.join(directory, 'secrets', 'bmc', 'one');
  await mkdir(path.dirname(secret), { recursive: true });
  await writeFile(secret, `${user.username}:${user.password}\n`);
  const { address } = running;
  return {
    fake,
    running,
    binding: { driver: 'redfish', address, credentialRef: 'secret://bmc/one' } as const,
  };
}

async function serveImage() {
  const ca = await makeTestCa();
  const bytes = Buffer.from(imageText);
  const server = await startRawHttps(await issueServerIdentity(ca), (_request, socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes.length}\r\n\r\n`);
    socket.write(bytes);
  });
  onTestFinished(() => server.close());
  const digest = createHash('sha256').update(bytes).digest('hex');
  return { image: { source: `${server.origin}/ramdisk`, digest, sizeBytes: bytes.length }, ca: ca.pem };
}
