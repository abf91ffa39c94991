import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { publicKeyFromJwk, signDocument, verifyDocument } from '#base/jws.ts';
import type { MachinePoll, MachineReport } from '#contract/agentWire.ts';
import type { IsoEntry, RamdiskEntry } from '#contract/bootEntry.ts';
import { machineThumbprint, type RamdiskJoin } from '#contract/join.ts';
import type { Operation, OperationProgress, OperationResult } from '#contract/operations.ts';
import { issueServerIdentity, makeTestCa, type TestCa } from '../../fakes/certificates.ts';

/** A centre and a site in one process: the real listener over TLS, with little behind it. */
export interface FakeSite {
  url: string;
  ca: TestCa;
  signingKey: KeyObject;
  joins: RamdiskJoin[];
  /** What the boot entry of the next joins says instead, and who signs it. */
  forged: { entry?: Partial<Record<keyof RamdiskEntry | keyof IsoEntry, unknown>>; entryKey?: KeyObject };
  results: OperationResult[];
  progress: OperationProgress[];
  /** Signs an operation for the node and has it handed out. */
  order(operation: Partial<Operation>): Promise<string>;
  cancel(operationId: string): void;
  /** Resolves when a result of that operation was reported. */
  resultOf(operationId: string): Promise<OperationResult>;
  /** Closes the listener, forgets every session and listens again on the same port. */
  restart(awayMs: number): Promise<void>;
  /** Answers with status 500 so many times. */
  failNext(path: string, times: number): void;
  close(): Promise<void>;
}

export const siteId = 'site_test';
export const nodeId = 'node_test';

export async function fakeSite(
  uri = `urn:railhead:site:${siteId}`,
  imagesUrl = 'http://127.0.0.1:9/images',
): Promise<FakeSite> {
  const ca = await makeTestCa();
  const identity = await issueServerIdentity(ca, uri);
  const signing = generateKeyPairSync('ed25519');
  const ordered: Operation[] = [];
  // Signed when it is handed out: it is for the machine that has joined by then.
  const handOut = async (operation: Operation) => {
    const newest = joins.at(-1);
    const machine = newest === undefined ? {} : { machine: machineThumbprint(newest) };
    const jws = await signDocument('railhead-operation', { ...machine, ...operation }, signing.privateKey);
    return { operationId: operation.operationId, jws };
  };
  const cancelled: string[] = [];
  const failures = new Map<string, number>();
  const sessions = new Set<string>();
  const news = new EventTarget();
  const tell = () => news.dispatchEvent(new Event('news'));
  const joins: RamdiskJoin[] = [];
  const results: OperationResult[] = [];
  const progress: OperationProgress[] = [];
  const told = new Set<string>();
  const forged: FakeSite['forged'] = {};

  const routes: Record<string, (body: unknown) => Promise<unknown>> = {
    '/v1/token': async () => ({ token: 'tok_discovered' }),
    '/v1/join': async (body) => {
      const { proof, ...message } = body as RamdiskJoin;
      const proven = await verifyDocument(
        'railhead-ramdisk-join',
        proof,
        publicKeyFromJwk(message.signingKey),
      );
      if (JSON.stringify(proven) !== JSON.stringify(message))
        throw new Error('the proof is of another message');
      joins.push(body as RamdiskJoin);
      const session = randomUUID();
      sessions.add(session);
      const now = Date.now();
      const entry = {
        entryId: 'be_test',
        siteId,
        nodeId,
        macs: [message.mac],
        ramdisk: { ref: 'ramdisk@1', digests: {} },
        issuedAt: new Date(now).toISOString(),
        expiresAt: new Date(now + 3_600_000).toISOString(),
        ...forged.entry,
      };
      const signed = await signDocument('railhead-boot-entry', entry, forged.entryKey ?? signing.privateKey);
      return { protocol: 1, siteId, nodeId, entry: signed, session, imagesUrl };
    },
    '/v1/machine/poll': async (body) => {
      const { taken, waitSeconds } = body as MachinePoll;
      const fresh = () => ordered.filter(({ operationId }) => !taken.includes(operationId));
      const untold = () => cancelled.filter((id) => !told.has(id));
      const end = AbortSignal.timeout(waitSeconds * 1000);
      while (fresh().length === 0 && untold().length === 0 && !end.aborted)
        await once(news, 'news', { signal: end }).catch(() => {});
      for (const id of cancelled) told.add(id);
      return { operations: await Promise.all(fresh().map(handOut)), cancelled };
    },
    '/v1/machine/report': async (body) => {
      const report = body as MachineReport;
      results.push(...report.results);
      progress.push(...report.progress);
      tell();
      return {};
    },
  };

  const listen = async (port: number): Promise<Server> => {
    const server = createServer(identity, async (request, response) => {
      const path = request.url ?? '';
      const answer = (status: number, document: unknown) =>
        response.writeHead(status).end(JSON.stringify(document));
      const left = failures.get(path) ?? 0;
      failures.set(path, left - 1);
      if (left > 0) return answer(500, { error: { code: 'INTERNAL', message: 'broken for now' } });
      const session = request.headers.authorization?.replace('Bearer ', '') ?? '';
      if (path.startsWith('/v1/machine/') && !sessions.has(session))
        return answer(401, { error: { code: 'UNAUTHENTICATED', message: 'join again' } });
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const route = routes[path];
      if (route === undefined) return answer(404, {});
      answer(200, await route(JSON.parse(Buffer.concat(parts).toString())));
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  let server = await listen(0);
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return {
    url: `https://127.0.0.1:${port}`,
    ca,
    signingKey: signing.publicKey,
    joins,
    forged,
    results,
    progress,
    order: async (operation) => {
      const whole: Operation = {
        operationId: `op_${randomUUID()}`,
        nodeId,
        target: 'ramdisk',
        action: 'boot.kexec',
        input: {},
        expiresAt: new Date(Date.now() + 60_000).toISOString(),
        ...operation,
      };
      ordered.push(whole);
      tell();
      return whole.operationId;
    },
    cancel: (operationId) => {
      cancelled.push(operationId);
      tell();
    },
    resultOf: async (operationId) => {
      for (;;) {
        const found = results.find((result) => result.operationId === operationId);
        if (found !== undefined) return found;
        await once(news, 'news');
      }
    },
    restart: async (awayMs) => {
      await stop();
      sessions.clear();
      await new Promise((resolve) => setTimeout(resolve, awayMs));
      server = await listen(port);
    },
    failNext: (path, times) => failures.set(path, times),
    close: stop,
  };
}
