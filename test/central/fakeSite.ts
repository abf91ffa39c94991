import { createPublicKey, generateKeyPairSync, type KeyObject, randomUUID, webcrypto } from 'node:crypto';
import { Agent, request } from 'undici';
import { openText, sealText } from '#base/jwe.ts';
import { publicKeyFromJwk, signDocument, verifyDocument } from '#base/jws.ts';
import { certificateAlgorithm, x509 } from '#base/x509.ts';
import type { AgentPollAnswer, AgentReport, SiteEvent } from '#contract/agentWire.ts';
import {
  type JoinResponse,
  joinParty,
  joinTokenTyp,
  machineThumbprint,
  type OkpJwk,
  type RamdiskJoin,
  type WellKnown,
} from '#contract/join.ts';
import type { DeployImage, Operation, OperationResult } from '#contract/operations.ts';

/** A client of the agents' listener, with or without an identity. */
export interface AgentClient {
  post(path: string, body: unknown): Promise<{ status: number; body: unknown }>;
  close(): Promise<void>;
}

export interface Credentials {
  key: string;
  certificate: string;
}

export async function readWellKnown(agentsUrl: string): Promise<WellKnown> {
  const insecure = new Agent({ connect: { rejectUnauthorized: false } });
  const { body } = await request(`${agentsUrl}/.well-known/bcd.json`, { dispatcher: insecure });
  const document = (await body.json()) as WellKnown;
  await insecure.close();
  return document;
}

export function agentClient(agentsUrl: string, ca: string, credentials?: Credentials): AgentClient {
  const identity = credentials === undefined ? {} : { key: credentials.key, cert: credentials.certificate };
  const dispatcher = new Agent({ connect: { ca, ...identity } });
  return {
    post: async (path, body) => {
      const answer = await request(`${agentsUrl}${path}`, {
        dispatcher,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const text = await answer.body.text();
      const isJson = String(answer.headers['content-type']).startsWith('application/json');
      return { status: answer.statusCode, body: isJson ? JSON.parse(text) : text };
    },
    // A long poll in flight must not hold a test back.
    close: () => dispatcher.destroy(),
  };
}

export async function newRequest(): Promise<{ key: string; csr: string }> {
  const keys = await webcrypto.subtle.generateKey(certificateAlgorithm, true, ['sign', 'verify']);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: 'CN=agent',
    keys: keys as never,
    signingAlgorithm: certificateAlgorithm,
  });
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  const key = `-----BEGIN PRIVATE KEY-----\n${der.toString('base64')}\n-----END PRIVATE KEY-----\n`;
  return { key, csr: request.toString('pem') };
}

export async function joinMessage(
  wellKnown: WellKnown,
  role: 'site' | 'node',
  nodeId: string,
  token: string,
  csr: string,
  sealingKey?: OkpJwk,
) {
  const sealTo = publicKeyFromJwk(wellKnown.joinEncryptionKey);
  const keys = { csr, ...(sealingKey && { sealingKey }) };
  const sealed = await sealText(joinTokenTyp, token, sealTo, joinParty(keys));
  return { protocol: 1, role, nodeId, token: sealed, ...keys, version: '0.0.0' };
}

/** Joins as a site or node and returns the credentials that it got. */
export async function joinAs(
  agentsUrl: string,
  role: 'site' | 'node',
  nodeId: string,
  token: string,
  sealingKey?: OkpJwk,
): Promise<Credentials & { wellKnown: WellKnown; response: JoinResponse }> {
  const wellKnown = await readWellKnown(agentsUrl);
  const { key, csr } = await newRequest();
  const client = agentClient(agentsUrl, wellKnown.servingCa);
  const message = await joinMessage(wellKnown, role, nodeId, token, csr, sealingKey);
  const { status, body } = await client.post('/v1/join', message);
  await client.close();
  if (status !== 200) throw new Error(`join answered ${status}: ${JSON.stringify(body)}`);
  const signer = publicKeyFromJwk(wellKnown.joinSigningKey);
  const response = (await verifyDocument('railhead-join-response', body as string, signer)) as JoinResponse;
  return { key, certificate: response.certificate, wellKnown, response };
}

/** The ramdisk of one boot of a machine, with its keys. */
export interface FakeRamdisk {
  bootId: string;
  /** What operations for it are addressed to. */
  thumbprint: string;
  joinEvent(overrides?: Partial<RamdiskJoin>): Promise<SiteEvent>;
  sign(result: OperationResult): Promise<OperationResult>;
  /** The user data that was sealed to it; empty when there is none. */
  unseal(operation: Operation): Promise<string>;
}

/** `entry` is the boot entry that it was booted under, as the centre signed it. */
export function bootRamdisk(
  nodeId: string,
  mac: string,
  entry = '',
  bootId: string = randomUUID(),
): FakeRamdisk {
  const signing = generateKeyPairSync('ed25519');
  const sealing = generateKeyPairSync('x25519');
  return {
    bootId,
    thumbprint: machineThumbprint({
      signingKey: jwk(signing.publicKey),
      sealingKey: jwk(sealing.publicKey),
    }),
    joinEvent: async (overrides = {}) => {
      const message = {
        protocol: 1,
        token: 'boot-token',
        mac,
        bootId,
        signingKey: jwk(signing.publicKey),
        sealingKey: jwk(sealing.publicKey),
        version: '0.0.0',
        trust: 'network' as const,
      };
      const proof = await signDocument('railhead-ramdisk-join', message, signing.privateKey);
      const join = { ...message, proof, ...overrides };
      const at = new Date().toISOString();
      return {
        eventId: randomUUID(),
        at,
        nodeId,
        mac,
        bootId,
        type: 'agent.joined',
        role: 'ramdisk',
        trust: 'network',
        join,
        entry,
      };
    },
    sign: async (result) => ({
      ...result,
      jws: await signDocument('railhead-result', result, signing.privateKey),
    }),
    unseal: async ({ input, secrets = [] }) => {
      const { userData } = input as DeployImage;
      const sealed = secrets.find(({ ref }) => ref === userData?.ref)?.sealed;
      return sealed === undefined ? '' : openText('railhead-user-data', sealed, sealing.privateKey);
    },
  };
}

function jwk(key: KeyObject): OkpJwk {
  return createPublicKey(key.export({ type: 'spki', format: 'pem' })).export({ format: 'jwk' }) as OkpJwk;
}

/** What a fake site does with an operation: report, or nothing yet. */
export type Script = (operation: Operation, site: FakeSite) => Promise<void> | void;

export interface FakeSite {
  siteId: string;
  client: AgentClient;
  wellKnown: WellKnown;
  /** Every operation that was taken, in order. */
  taken: Operation[];
  /** The boot entry that a node has, as it was signed; empty when it has none. */
  entryOf(nodeId: string): string;
  cancelled: string[];
  report(part: Partial<AgentReport>): Promise<void>;
  succeed(operation: Operation, result?: Record<string, unknown>): Promise<void>;
  stop(): Promise<void>;
}

/** A site that joins, polls as the real one does, and acts by `script`. */
export async function startFakeSite(
  agentsUrl: string,
  siteId: string,
  credentials: Credentials & { wellKnown: WellKnown },
  script: Script,
): Promise<FakeSite> {
  const client = agentClient(agentsUrl, credentials.wellKnown.servingCa, credentials);
  const stopping = new AbortController();
  const site: FakeSite = {
    siteId,
    client,
    wellKnown: credentials.wellKnown,
    taken: [],
    entryOf: (nodeId) => {
      const prepared = site.taken.findLast(
        (each) => each.action === 'boot.prepareRamdisk' && each.nodeId === nodeId,
      );
      return String(prepared?.input.entry ?? '');
    },
    cancelled: [],
    report: async (part) => {
      const report = { protocol: 1, observedGeneration: 0, results: [], progress: [], events: [], ...part };
      const { status, body } = await client.post('/v1/agent/report', report);
      if (status !== 200) throw new Error(`report answered ${status}: ${JSON.stringify(body)}`);
    },
    succeed: (operation, result) =>
      site.report({
        results: [
          {
            operationId: operation.operationId,
            outcome: 'succeeded',
            ...(result && { result }),
            finishedAt: new Date().toISOString(),
          },
        ],
      }),
    stop: async () => {
      stopping.abort();
      await client.close();
      await polling;
    },
  };
  const polling = poll(site, script, stopping.signal);
  return site;
}

async function poll(site: FakeSite, script: Script, stop: AbortSignal): Promise<void> {
  let observedGeneration = 0;
  const journal = new Set<string>();
  while (!stop.aborted) {
    const answer = await pollOnce(site, { observedGeneration, taken: [...journal] }).catch(() => undefined);
    if (answer === undefined) {
      if (!stop.aborted) await new Promise((resolve) => setTimeout(resolve, 50));
      continue;
    }
    observedGeneration = answer.spec?.generation ?? observedGeneration;
    site.cancelled.push(...answer.cancelled.filter((id) => !site.cancelled.includes(id)));
    for (const operation of answer.operations) {
      if (journal.has(operation.operationId)) continue;
      journal.add(operation.operationId);
      site.taken.push(operation);
      void Promise.resolve(script(operation, site)).catch((error) => {
        if (!stop.aborted) console.error('fake site:', error);
      });
    }
  }
}

export async function pollOnce(
  site: Pick<FakeSite, 'client'>,
  {
    observedGeneration,
    taken,
    waitSeconds = 2,
  }: { observedGeneration: number; taken: string[]; waitSeconds?: number },
): Promise<AgentPollAnswer> {
  const { status, body } = await site.client.post('/v1/agent/poll', {
    protocol: 1,
    observedGeneration,
    waitSeconds,
    taken,
  });
  if (status !== 200) throw new Error(`poll answered ${status}: ${JSON.stringify(body)}`);
  return body as AgentPollAnswer;
}
