import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { type Identity, writeIdentity } from '#agent/join/identity.ts';
import { certificateRequest, pendingKey } from '#agent/join/ownKey.ts';
import { parseConfig, type SiteConfig } from '#agent/site/config.ts';
import { startSite } from '#agent/site/site.ts';
import type { Closable } from '#base/shutdown.ts';
import { issueFor } from '#central/join/authority.ts';
import { publicJwk } from '#central/join/keys.ts';
import type { CacheImage } from '#contract/images.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import { issueServerIdentity, makeTestCa } from '../../../fakes/certificates.ts';
import { startRawHttps } from '../../../fakes/rawHttpsServer.ts';
import { type ScriptedCentre, startCentre } from './scriptedCentre.ts';

export const siteId = 'site_01bench';
export const nodeId = 'node_01bench';
export const mac = '02:00:00:00:00:01';

/** A whole site agent on the loopback interface, with a scripted centre and an image source. */
export interface Bench {
  centre: ScriptedCentre;
  directory: string;
  configFile: string;
  config: SiteConfig;
  httpUrl: string;
  machineUrl: string;
  adminUrl: string;
  /** A ramdisk image that the site's spec desires. */
  ramdisk: CacheImage;
  /** Starts the agent in this process. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Lets the centre state a spec with one node and one image; the site has joined. */
export async function setUpBench(node: Partial<SiteNode> = {}): Promise<Bench> {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-site-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const centre = await startCentre();
  onTestFinished(() => centre.down());
  await joinByHand(directory, centre);
  const { image: ramdisk, ca } = await serveImage();
  centre.setSpec({ siteId, cacheImages: [ramdisk], nodes: [{ nodeId, macs: [mac], ...node }] });
  const ports = await freePorts(5);
  const configFile = path.join(directory, 'config.toml');
  await writeFile(configFile, await configText(directory, ca, ports, 'info'));
  const config = parseConfig(await configText(directory, ca, ports, 'silent'));
  let site: Closable | undefined;
  const stop = async () => {
    await site?.close();
    site = undefined;
  };
  onTestFinished(stop);
  return {
    centre,
    directory,
    configFile,
    config,
    httpUrl: `http://127.0.0.1:${ports[0]}`,
    machineUrl: `https://127.0.0.1:${ports[1]}`,
    adminUrl: `http://127.0.0.1:${ports[2]}`,
    ramdisk,
    start: async () => {
      site = await startSite(config, {});
    },
    stop,
  };
}

/** Starts the site and gives its node a boot entry. */
export async function prepared(bench: Bench): Promise<Bench> {
  await bench.start();
  const ramdisk = { ref: bench.ramdisk.ref, digests: { x86_64: bench.ramdisk.digest } };
  const entry = await bench.centre.signEntry({ siteId, nodeId, macs: [mac], ramdisk });
  await bench.centre.result(await bench.centre.order('boot.prepareRamdisk', nodeId, { entry }));
  return bench;
}

/** An identity as `bcd join` leaves it, without the talk. */
async function joinByHand(directory: string, { authority, signing, url }: ScriptedCentre): Promise<void> {
  const stateDirectory = path.join(directory, 'state');
  const privateKey = await pendingKey(stateDirectory);
  const uri = `urn:railhead:site:${siteId}`;
  const issued = await issueFor(authority, await certificateRequest(privateKey, siteId), {
    uri,
    validMs: 3_600_000,
  });
  if (issued === undefined) throw new Error('the request is not usable');
  const identity: Identity = {
    role: 'site',
    nodeId: siteId,
    server: url,
    privateKey,
    certificate: `${issued.certificate}\n${authority.certificate}`,
    ca: authority.certificate,
    signingKey: publicJwk(signing),
    expiresAt: issued.expiresAt.toISOString(),
  };
  await writeIdentity(stateDirectory, identity);
}

async function configText(
  directory: string,
  sourceCa: string,
  ports: number[],
  logLevel: string,
): Promise<string> {
  const [http, machine, admin, dhcp, tftp] = ports;
  const ipxe = await mkdtemp(path.join(directory, 'ipxe-'));
  for (const name of ['snponly.efi', 'undionly.kpxe']) await writeFile(path.join(ipxe, name), 'not iPXE');
  await writeFile(path.join(directory, 'source-ca.pem'), sourceCa);
  return `
stateDirectory = "${directory}/state"
logLevel = "${process.env.RAILHEAD_TEST_LOG ?? logLevel}"
[provisioning]
interface = "lo"
address = "127.0.0.1"
prefixLength = 8
poolStart = "127.77.0.10"
poolEnd = "127.77.0.20"
[boot]
httpPort = ${http}
dhcpPort = ${dhcp}
tftpPort = ${tftp}
ipxeDirectory = "${ipxe}"
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

async function serveImage(): Promise<{ image: CacheImage; ca: string }> {
  const ca = await makeTestCa();
  const bytes = Buffer.from('the bytes of a ramdisk');
  const source = await startRawHttps(await issueServerIdentity(ca), (_request, socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes.length}\r\n\r\n`);
    socket.write(bytes);
  });
  onTestFinished(() => source.close());
  const digest = createHash('sha256').update(bytes).digest('hex');
  const image: CacheImage = {
    ref: 'ramdisk@1',
    kind: 'os',
    digest,
    sizeBytes: bytes.length,
    format: 'raw',
    compression: 'none',
    sources: [`${source.origin}/ramdisk`],
  };
  return { image, ca: ca.pem };
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

export async function identityOf(directory: string): Promise<Identity> {
  return JSON.parse(await readFile(path.join(directory, 'state', 'identity.json'), 'utf8'));
}
