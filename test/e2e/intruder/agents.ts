import { createPrivateKey } from 'node:crypto';
import { Agent } from 'undici';
import { signDocument } from '#base/jws.ts';
import type { WellKnown } from '#contract/join.ts';
import { type Credentials, joinMessage, newRequest } from '../../central/fakeSite.ts';
import { type Attempt, send } from './attempt.ts';

/** What an intruder has got hold of, to try at the agents' listener. */
export interface AgentLoot {
  wellKnown: WellKnown;
  /** The site that it wants to be. */
  siteId: string;
  nodeId: string;
  joinTokens: { used: string; expired: string; otherSite: string; foreign: string };
  revoked: Credentials;
  expired: Credentials;
  node: Credentials;
  /** Of another centre. */
  foreign: Credentials;
}

const poll = { protocol: 1, observedGeneration: 0, waitSeconds: 0, taken: [] };
const bodies = {
  'POST /v1/agent/poll': poll,
  'POST /v1/agent/report': { protocol: 1, observedGeneration: 0, results: [], progress: [], events: [] },
  'POST /v1/agent/secrets': { protocol: 1, secretIds: ['sec_none'] },
};

export async function attemptsAtAgents(url: string, loot: AgentLoot): Promise<Attempt[]> {
  return [
    ...(await joining(url, loot)),
    ...(await renewing(url, loot)),
    ...rejoining(url, loot),
    ...byCertificate(url, loot),
  ];
}

async function joining(url: string, { wellKnown, siteId, joinTokens }: AgentLoot): Promise<Attempt[]> {
  const route = 'POST /v1/join';
  const dispatcher = trusting(wellKnown);
  const { csr } = await newRequest();
  const by = (credential: Attempt['credential'], how: string, token: string): Attempt => ({
    route,
    credential,
    how,
    send: async () =>
      send(route, url, { dispatcher, body: await joinMessage(wellKnown, 'site', siteId, token, csr) }),
  });
  return [
    {
      route: 'GET /.well-known/bcd.json',
      credential: 'open',
      how: 'public keys alone',
      send: () => send('GET /.well-known/bcd.json', url, { dispatcher }),
    },
    {
      route,
      credential: 'none',
      how: 'no message',
      shut: [400],
      send: () => send(route, url, { dispatcher, body: {} }),
    },
    by('stale', 'a used join token', joinTokens.used),
    by('stale', 'an expired join token', joinTokens.expired),
    by('stolen', "another site's join token", joinTokens.otherSite),
    by('foreign', "another centre's join token", joinTokens.foreign),
  ];
}

async function renewing(url: string, { wellKnown, siteId, revoked, foreign }: AgentLoot): Promise<Attempt[]> {
  const route = 'POST /v1/renew';
  const dispatcher = trusting(wellKnown);
  const { key, csr } = await newRequest();
  const sealingKey = wellKnown.joinEncryptionKey;
  const claim = {
    role: 'site',
    nodeId: siteId,
    counter: 1,
    nonce: 'n'.repeat(22),
    at: new Date().toISOString(),
    csr,
    sealingKey,
    version: '0',
    signedBy: [],
  };
  const by = (credential: Attempt['credential'], how: string, signer: string): Attempt => ({
    route,
    credential,
    how,
    shut: [400, 401, 403],
    send: async () => {
      const proof = await signDocument('railhead-renewal', claim, createPrivateKey(signer));
      return send(route, url, { dispatcher, body: { protocol: 1, proof } });
    },
  });
  return [
    {
      route,
      credential: 'none',
      how: 'no proof',
      shut: [400],
      send: () => send(route, url, { dispatcher, body: {} }),
    },
    by('stale', 'the key of a revoked site', revoked.key),
    by('stolen', 'a key of its own for another site', key),
    by('foreign', "the key of another centre's site", foreign.key),
  ];
}

function rejoining(url: string, { wellKnown, nodeId, joinTokens }: AgentLoot): Attempt[] {
  const route = 'POST /v1/rejoin';
  const dispatcher = trusting(wellKnown);
  const by = (credential: Attempt['credential'], how: string, token: string): Attempt => ({
    route,
    credential,
    how,
    send: () => send(route, url, { dispatcher, body: { token, nodeId } }),
  });
  return [
    {
      route,
      credential: 'none',
      how: 'no token',
      shut: [400],
      send: () => send(route, url, { dispatcher, body: {} }),
    },
    by('stale', 'a used join token', joinTokens.used),
    by('stolen', "a site's join token", joinTokens.otherSite),
    by('foreign', "another centre's join token", joinTokens.foreign),
  ];
}

function byCertificate(url: string, loot: AgentLoot): Attempt[] {
  return Object.entries(bodies).flatMap(([route, body]) => {
    const by = (credential: Attempt['credential'], how: string, shown?: Credentials): Attempt => ({
      route,
      credential,
      how,
      send: () => send(route, url, { dispatcher: trusting(loot.wellKnown, shown), body }),
    });
    const attempts = [
      by('none', 'no certificate'),
      by('stale', 'a revoked certificate', loot.revoked),
      by('stale', 'an expired certificate', loot.expired),
      by('foreign', 'a certificate of another centre', loot.foreign),
    ];
    // A node polls and reports for itself; what is a site's is not for it.
    if (route === 'POST /v1/agent/secrets') attempts.push(by('stolen', "a node's certificate", loot.node));
    return attempts;
  });
}

function trusting({ servingCa: ca }: WellKnown, shown?: Credentials): Agent {
  const identity = shown === undefined ? {} : { key: shown.key, cert: shown.certificate };
  return new Agent({ connect: { ca, ...identity }, keepAliveTimeout: 1 });
}
