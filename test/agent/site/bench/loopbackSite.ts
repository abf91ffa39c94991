import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { parseConfig, type SiteConfig } from '#agent/site/config.ts';
import { startSite } from '#agent/site/site.ts';
import type { Closable } from '#base/shutdown.ts';
import { issueServerIdentity, makeTestCa, selfSignedIdentity } from '../../../fakes/certificates.ts';
import { FakeBmc, serveBmc, user } from '../../../fakes/fakeBmc.ts';
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
  await mkdir(path.join(directory, 'ipxe'));
  for (const name of ['snponly.efi', 'undionly.kpxe'])
    await writeFile(path.join(directory, 'ipxe', name), 'not iPXE');
  const ports = await freePorts(5);
  const configFile = path.join(directory, 'config.toml');
  await writeFile(configFile, configText(directory, ports, 'info'));
  const config = parseConfig(configText(directory, ports, 'silent'));
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
    httpUrl: `http://127.0.0.1:${ports[0]}`,
    machineUrl: `https://127.0.0.1:${ports[1]}`,
    adminUrl: `http://127.0.0.1:${ports[2]}`,
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

function configText(directory: string, ports: number[], logLevel: string): string {
  const [http, machine, admin, dhcp, tftp] = ports;
  return `
stateDirectory = "${directory}/state"
logLevel = "${process.env.RAILHEAD_TEST_LOG ?? logLevel}"
[provisioning]
interface = "lo"
address = "127.0.0.1"
prefixLength = 8
poolStart = "127.77.0.10"
poolEnd = "127.77.0.99"
[boot]
httpPort = ${http}
dhcpPort = ${dhcp}
tftpPort = ${tftp}
ipxeDirectory = "${directory}/ipxe"
consoles = ["ttyS0,115200"]
[machine]
listen = "127.0.0.1:${machine}"
[admin]
listen = "127.0.0.1:${admin}"
[cache]
sourceCaFile = "${directory}/source-ca.pem"
[secrets]
directory = "${directory}/secrets"
`;
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

/** Ports that were free a moment ago. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, () => {
      const server = createServer();
      return new Promise<typeof server>((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
    }),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
