import { generateKeyPairSync } from 'node:crypto';
import { createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { certificateRequest, sealingJwk } from '#agent/join/ownKeys.ts';
import { sealText } from '#base/jwe.ts';
import { publicKeyFromJwk } from '#base/jws.ts';
import { protocolVersion } from '#contract/agentWire.ts';
import { type JoinRequest, joinParty, joinTokenTyp, type WellKnown } from '#contract/join.ts';
import { connectTo, post } from './exchange.ts';
import { serveCommands } from './worker.ts';

/** Many sites in one process: they join, and each holds a long poll over a connection of its own. */
export interface NewSite {
  siteId: string;
  joinToken: string;
}

interface Site {
  key: string;
  message: JoinRequest;
  /** There once the site has joined. */
  identity?: SecureContext;
}

const atOnce = 16;
let ca = '';
const sites: Site[] = [];
let held: TLSSocket[] = [];
let lost = 0;

serveCommands({ prepare, join, hold, count, drop });

/** What a site does by itself before it joins: keys, request, sealed token. */
async function prepare({
  newSites,
  wellKnown,
}: {
  newSites: NewSite[];
  wellKnown: WellKnown;
}): Promise<object> {
  ca = wellKnown.servingCa;
  const sealTo = publicKeyFromJwk(wellKnown.joinEncryptionKey);
  const pem = { type: 'pkcs8', format: 'pem' } as const;
  for (const { siteId, joinToken } of newSites) {
    const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(pem) as string;
    const sealingPrivateKey = generateKeyPairSync('x25519').privateKey.export(pem) as string;
    const keys = {
      csr: await certificateRequest(key, siteId),
      sealingKey: sealingJwk({ sealingPrivateKey }),
    };
    const message = {
      protocol: protocolVersion,
      role: 'site',
      nodeId: siteId,
      token: await sealText(joinTokenTyp, joinToken, sealTo, joinParty(keys)),
      ...keys,
      version: '0.0.0',
    } as const;
    sites.push({ key, message });
  }
  return {};
}

async function join({ url }: { url: string }): Promise<object> {
  const stranger = createSecureContext({ ca });
  await each(sites, async (site) => {
    const socket = await connectTo(url, stranger);
    const jws = await post(socket, '/v1/join', site.message);
    socket.destroy();
    const payload = Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString();
    const { certificate } = JSON.parse(payload) as { certificate: string };
    site.identity = createSecureContext({ ca, cert: certificate, key: site.key });
  });
  return {};
}

/** Resolves once as many sites more have got what they did not know, where there is something, and asked for what is next. */
async function hold({
  url,
  hasNews,
  share,
}: {
  url: string;
  hasNews: boolean;
  share: number;
}): Promise<object> {
  const more = sites.slice(held.length, held.length + Math.ceil(sites.length * share));
  await each(more, async ({ identity }) => {
    const { socket, generation } = await begin(url, identity as SecureContext, hasNews);
    held.push(socket);
    void keepPolling(socket, generation);
  });
  return {};
}

const tries = 5;

/** As sites do, it connects again when a server that is busy has cut it off. */
async function begin(url: string, identity: SecureContext, hasNews: boolean) {
  for (let failures = 0; ; ) {
    try {
      const socket = await connectTo(url, identity);
      return { socket, generation: hasNews ? await poll(socket, 0, 0) : 0 };
    } catch (error) {
      if (++failures === tries) throw error;
    }
  }
}

async function poll(socket: TLSSocket, observedGeneration: number, waitSeconds: number): Promise<number> {
  const message = { protocol: protocolVersion, observedGeneration, waitSeconds, taken: [] };
  const answer = JSON.parse(await post(socket, '/v1/agent/poll', message)) as {
    spec?: { generation: number };
  };
  return answer.spec?.generation ?? observedGeneration;
}

async function keepPolling(socket: TLSSocket, generation: number): Promise<void> {
  try {
    for (let observed = generation; ; ) observed = await poll(socket, observed, 60);
  } catch {
    if (held.includes(socket)) lost++;
  }
}

async function count(): Promise<object> {
  return { held: held.length - lost };
}

async function drop(): Promise<object> {
  const all = held;
  held = [];
  lost = 0;
  for (const socket of all) socket.destroy();
  return {};
}

async function each<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const queue = items.values();
  const lane = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}
