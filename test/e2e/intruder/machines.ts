import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { Agent } from 'undici';
import { signDocument } from '#base/jws.ts';
import { type Attempt, send } from './attempt.ts';

/** What an intruder on the provisioning network has got hold of, to try at the machine listener. */
export interface MachineLoot {
  /** The machine that it wants to be, and another one. */
  mac: string;
  otherMac: string;
  bootTokens: { stale: string; otherMachine: string; foreign: string; good: string };
  sessions: { stale: string; foreign: string; good: string };
}

export function attemptsAtMachines(url: string, loot: MachineLoot): Attempt[] {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  return [
    ...asking(url, loot, dispatcher),
    ...joining(url, loot, dispatcher),
    ...joined(url, loot, dispatcher),
    ...readingImages(url, loot, dispatcher),
  ];
}

function asking(url: string, { mac }: MachineLoot, dispatcher: Agent): Attempt[] {
  const route = 'POST /v1/token';
  const by = (how: string, body: object, shut: number[]): Attempt => ({
    route,
    credential: 'none',
    how,
    shut,
    send: () => send(route, url, { dispatcher, body }),
  });
  return [
    by('nothing', {}, [400]),
    by('a MAC without a boot entry', { mac: '02:00:00:00:00:99' }, [404]),
    { ...by("another machine's MAC", { mac }, [403]), credential: 'stolen' },
  ];
}

function joining(url: string, { mac, otherMac, bootTokens }: MachineLoot, dispatcher: Agent): Attempt[] {
  const route = 'POST /v1/join';
  const by = (credential: Attempt['credential'], how: string, token: string, as = mac): Attempt => ({
    route,
    credential,
    how,
    send: async () => send(route, url, { dispatcher, body: await joinMessage(token, as) }),
  });
  return [
    {
      route,
      credential: 'none',
      how: 'no message',
      shut: [400],
      send: () => send(route, url, { dispatcher, body: {} }),
    },
    by('none', 'a token that was made up', 'made-up'),
    by('stale', 'a boot token that a newer one replaced', bootTokens.stale),
    by('stolen', "another machine's boot token", bootTokens.otherMachine),
    by('stolen', 'its own boot token as another machine', bootTokens.good, otherMac),
    by('foreign', "another site's boot token", bootTokens.foreign),
    {
      route,
      credential: 'stolen',
      how: 'a good token in a message that another key has signed',
      send: async () => {
        const message = await joinMessage(bootTokens.good, mac);
        const { proof } = await joinMessage(bootTokens.good, mac);
        return send(route, url, { dispatcher, body: { ...message, proof } });
      },
    },
  ];
}

function joined(url: string, { bootTokens, sessions }: MachineLoot, dispatcher: Agent): Attempt[] {
  const bodies = {
    'POST /v1/machine/poll': { waitSeconds: 0, taken: [] },
    'POST /v1/machine/secret': { operationId: 'op_1' },
    'POST /v1/machine/image': { digest: '0'.repeat(64) },
    'POST /v1/machine/report': { results: [], progress: [] },
  };
  const attempts = Object.entries(bodies).flatMap(([route, body]) => {
    const by = (credential: Attempt['credential'], how: string, bearer?: string): Attempt => ({
      route,
      credential,
      how,
      send: () => send(route, url, { dispatcher, bearer, body }),
    });
    return [
      by('none', 'no session'),
      by('stale', 'a session that a newer one replaced', sessions.stale),
      by('stolen', 'a boot token for a session', bootTokens.good),
      by('foreign', "another site's session", sessions.foreign),
    ];
  });
  return [...attempts, forgedResult(url, sessions.good, dispatcher)];
}

/** An image's URL is made by the site alone, for one machine. */
function readingImages(url: string, { sessions }: MachineLoot, dispatcher: Agent): Attempt[] {
  const path = `/v1/images/sha256/${'0'.repeat(64)}`;
  const made = '?node=node_1&expires=99999999999999&signature=bWFkZSB1cA';
  return ['GET', 'HEAD'].flatMap((method) => {
    const by = (credential: Attempt['credential'], how: string, query = '', bearer?: string): Attempt => ({
      route: `${method} /v1/images/sha256/:digest`,
      credential,
      how,
      send: () => send(`${method} /`, url, { dispatcher, bearer, path: `${path}${query}` }),
    });
    return [
      by('none', 'a digest alone'),
      by('foreign', 'a URL that was made up', made),
      by('stolen', "a machine's session in place of a URL", '', sessions.good),
    ];
  });
}

/** Whoever has a machine's session and not its key can report nothing as done. */
function forgedResult(url: string, session: string, dispatcher: Agent): Attempt {
  const route = 'POST /v1/machine/report';
  return {
    route,
    credential: 'stolen',
    how: "a machine's session without its key",
    send: async () => {
      const result = { operationId: 'op_1', outcome: 'succeeded', finishedAt: new Date().toISOString() };
      const { privateKey } = generateKeyPairSync('ed25519');
      const jws = await signDocument('railhead-result', result, privateKey);
      const body = { results: [{ ...result, jws }], progress: [] };
      return send(route, url, { dispatcher, bearer: session, body });
    },
  };
}

/** A join message as a ramdisk with new keys sends it. */
export async function joinMessage(token: string, mac: string): Promise<Record<string, unknown>> {
  const signing = generateKeyPairSync('ed25519');
  const sealing = generateKeyPairSync('x25519');
  const claim = {
    protocol: 1,
    token,
    mac,
    bootId: 'boot-1',
    signingKey: jwk(signing.publicKey),
    sealingKey: jwk(sealing.publicKey),
    version: '0',
    trust: 'network',
  };
  return { ...claim, proof: await signDocument('railhead-ramdisk-join', claim, signing.privateKey) };
}

function jwk(key: KeyObject): object {
  const { kty, crv, x } = key.export({ format: 'jwk' });
  return { kty, crv, x };
}
