import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { signDocument } from '#base/jws.ts';
import { type Authority, issueServer, newAuthority, openAuthority } from '#central/join/authority.ts';
import type { AgentPoll, AgentReport, SiteEvent } from '#contract/agentWire.ts';
import type { BootEntry, IsoEntry, RamdiskEntry } from '#contract/bootEntry.ts';
import { newId } from '#contract/ids.ts';
import type { NodeSpec, SiteSection } from '#contract/nodeSpec.ts';
import type { Operation, OperationAction, OperationInput, OperationResult } from '#contract/operations.ts';
import { operations } from '#contract/operations.ts';
import type { TrustList } from '#contract/trust.ts';

/** The centre's agent door by the contract alone: it hands out what the test queues, and keeps what is reported. */
export interface ScriptedCentre {
  readonly url: string;
  readonly authority: Authority;
  readonly signing: KeyObject;
  readonly results: OperationResult[];
  readonly events: SiteEvent[];
  readonly reports: AgentReport[];
  readonly polls: AgentPoll[];
  setSpec(siteId: string, site: SiteSection): void;
  /** Queues an operation and returns its id. */
  order<Action extends OperationAction>(
    action: Action,
    nodeId: string,
    input: OperationInput<Action>,
    more?: Partial<Operation>,
  ): Promise<string>;
  /** Hands the same operation out again, as a centre does that has lost the acknowledgement. */
  repeat(operationId: string): void;
  cancel(operationId: string): void;
  /** From now on this is the list of the centre's keys. */
  tellKeys(list: TrustList): Promise<void>;
  signEntry(
    entry: Pick<BootEntry, 'siteId' | 'nodeId' | 'macs'> &
      (Pick<RamdiskEntry, 'ramdisk'> | Pick<IsoEntry, 'iso'>),
  ): Promise<string>;
  /** Resolves with the first result of an operation, now or later. */
  result(operationId: string): Promise<OperationResult>;
  /** Resolves once `condition` holds after some report. */
  until(condition: () => boolean): Promise<void>;
  /** Stops listening, or listens again on the same port. */
  down(): Promise<void>;
  up(): Promise<void>;
  /** While true, reports are answered with 503. */
  refuseReports: boolean;
}

export async function startCentre(): Promise<ScriptedCentre> {
  const authority = openAuthority(await newAuthority());
  const signing = createPrivateKey(
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  );
  const uri = 'urn:railhead:central';
  const own = await issueServer(authority, { uri, names: [], validMs: 3_600_000 });
  const orders = new Map<string, Operation>();
  const queue = new Map<string, Operation>();
  const cancelled = new Set<string>();
  const waiting = new Set<() => void>();
  let spec: NodeSpec | undefined;
  let keys: { number: number; trust: string[] } | undefined;
  let port = 0;
  let server: Server | undefined;
  const notify = () => {
    for (const resume of [...waiting]) resume();
  };

  async function poll(message: AgentPoll, request: IncomingMessage): Promise<object> {
    centre.polls.push(message);
    for (const id of message.taken) queue.delete(id);
    const end = Date.now() + message.waitSeconds * 1000;
    const isBehind = () => (keys?.number ?? 0) > (message.trustNumber ?? 0);
    const news = () =>
      isBehind() ||
      queue.size > 0 ||
      cancelled.size > 0 ||
      (spec?.generation ?? 0) > message.observedGeneration;
    while (!news() && Date.now() < end && !request.destroyed) await next(end - Date.now());
    const told = [...cancelled];
    cancelled.clear();
    const fresh = spec !== undefined && spec.generation > message.observedGeneration ? { spec } : {};
    const trust = isBehind() ? { trust: keys?.trust } : {};
    return { protocol: 1, ...fresh, ...trust, operations: [...queue.values()], cancelled: told };
  }

  function report(message: AgentReport): object {
    centre.reports.push(message);
    centre.results.push(...message.results);
    centre.events.push(...message.events);
    notify();
    return {};
  }

  function next(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const resume = () => {
        clearTimeout(timer);
        waiting.delete(resume);
        resolve();
      };
      const timer = setTimeout(resume, milliseconds);
      waiting.add(resume);
    });
  }

  function listen(): Promise<void> {
    const tls = { key: own.privateKey, cert: own.certificate, ca: authority.certificate, requestCert: true };
    const listening = createServer(tls, answer);
    server = listening;
    return new Promise((resolve) => {
      listening.listen(port, '127.0.0.1', () => {
        port = (listening.address() as AddressInfo).port;
        resolve();
      });
    });
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const message = JSON.parse(Buffer.concat(chunks).toString());
    if (request.url === '/v1/agent/report' && centre.refuseReports) {
      response.writeHead(503).end();
      return;
    }
    const body = request.url === '/v1/agent/poll' ? await poll(message, request) : report(message);
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  }

  const centre: ScriptedCentre = {
    get url() {
      return `https://127.0.0.1:${port}`;
    },
    authority,
    signing,
    results: [],
    events: [],
    reports: [],
    polls: [],
    refuseReports: false,
    setSpec: (siteId, site) => {
      spec = { nodeId: siteId, role: 'site', generation: (spec?.generation ?? 0) + 1, site };
      notify();
    },
    order: async (action, nodeId, input, more = {}) => {
      const { target } = operations[action];
      const expiresAt = new Date(Date.now() + 120_000).toISOString();
      const plain = {
        operationId: newId('op'),
        nodeId,
        target,
        action,
        input,
        expiresAt,
        ...more,
      } as Operation;
      const jws =
        target === 'ramdisk' ? { jws: await signDocument('railhead-operation', plain, signing) } : {};
      orders.set(plain.operationId, { ...plain, ...jws });
      centre.repeat(plain.operationId);
      return plain.operationId;
    },
    repeat: (operationId) => {
      queue.set(operationId, orders.get(operationId) as Operation);
      notify();
    },
    cancel: (operationId) => {
      cancelled.add(operationId);
      notify();
    },
    tellKeys: async (list) => {
      keys = { number: list.number, trust: [await signDocument('railhead-trust', list, signing)] };
      notify();
    },
    signEntry: (entry) =>
      signDocument(
        'railhead-boot-entry',
        {
          entryId: newId('be'),
          issuedAt: new Date().toISOString(),
          expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
          ...entry,
        },
        signing,
      ),
    result: async (operationId) => {
      const found = () => centre.results.find((result) => result.operationId === operationId);
      await centre.until(() => found() !== undefined);
      return found() as OperationResult;
    },
    until: async (condition) => {
      while (!condition()) await next(1000);
    },
    down: async () => {
      const closed = new Promise((resolve) => server?.close(resolve));
      server?.closeAllConnections();
      await closed;
    },
    up: listen,
  };
  await listen();
  return centre;
}
