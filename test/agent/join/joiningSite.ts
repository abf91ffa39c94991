import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { JoinOptions } from '#agent/join/join.ts';
import { createJoinToken } from '#central/join/joinTokens.ts';
import { type CentralKeys, openKeys } from '#central/join/keys.ts';
import { centralPins } from '#central/join/pins.ts';
import { createSite } from '#central/sites.ts';
import { startCentral } from '#central/start.ts';
import { openStore, type Store } from '#central/store/store.ts';

export interface JoiningSite {
  options: JoinOptions;
  siteId: string;
  token: string;
  store: Store;
  /** Those of the centre. */
  keys: CentralKeys;
}

/** A real centre, a site of it and a join token for that site in a file. */
export async function setUp(): Promise<JoiningSite> {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-join-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const home = path.join(directory, 'central');
  const port = { host: '127.0.0.1', port: 0 };
  const central = await startCentral({ directory: home, api: port, agents: port, names: ['127.0.0.1'] });
  onTestFinished(() => central.close());
  const store = await openStore(home);
  onTestFinished(() => store.destroy());
  const { site_id: siteId } = await createSite(store, 'site-a');
  const { token } = await createJoinToken(store, { role: 'site', nodeId: siteId, validMs: 60_000 });
  const tokenFile = path.join(directory, 'token');
  await writeFile(tokenFile, `${token}\n`);
  const keys = await openKeys(home);
  const stateDirectory = path.join(directory, 'state');
  const options = { server: central.agentsUrl, tokenFile, nodeId: siteId, stateDirectory };
  return { options: { ...options, ...centralPins(keys) }, siteId, token, store, keys };
}

/** What a server shows in TLS. */
export interface ShownIdentity {
  privateKey: string;
  certificate: string;
}

/** Something that stands where the centre should, at `url`. */
export async function standIn(
  { privateKey: key, certificate: cert }: ShownIdentity,
  answer: RequestListener,
): Promise<{ url: string; server: TlsServer }> {
  const server = createTlsServer({ key, cert }, answer);
  return { url: `https://127.0.0.1:${await listening(server)}`, server };
}

/** The same without TLS. */
export async function standInWithoutTls(answer: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listening(createServer(answer))}`;
}

async function listening(server: Server | TlsServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
