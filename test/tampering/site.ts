import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type {
  MachinePoll,
  MachineReport,
  MachineSecretAnswer,
  MachineSecretRequest,
  SiteEvent,
} from '#contract/agentWire.ts';
import {
  machineThumbprint,
  type RamdiskJoin,
  type RamdiskJoinAnswer,
  type WellKnown,
} from '#contract/join.ts';
import type { Operation, OperationResult } from '#contract/operations.ts';
import { type Credentials, startFakeSite } from '../central/fakeSite.ts';

type Joined = SiteEvent & { type: 'agent.joined' };
type Handed = { operationId: string; jws: string };

/** What a site has in its hands on the way between centre and machine; each may be changed before it goes on. */
export interface Tampering {
  /** To the machine. */
  entry?(jws: string): string;
  answer?(answer: RamdiskJoinAnswer): RamdiskJoinAnswer;
  handed?(operation: Handed): Handed;
  /** What an operation refers to; `join` is the machine's. */
  secret?(answer: MachineSecretAnswer, join: RamdiskJoin): MachineSecretAnswer | Promise<MachineSecretAnswer>;
  /** To the centre. */
  event?(event: Joined): Joined;
  result?(result: OperationResult): OperationResult;
}

/** A site with a site's own keys, joined to a real centre and met by real ramdisks, that relays as a site does, but for its tampering. */
export interface TamperingSite {
  url: string;
  /** What it does from now on. */
  tampering: Tampering;
  /** Every operation of machines that it relayed, as the centre signed it. */
  relayed: Operation[];
  /** Resolves once the node has a boot entry. */
  entryOf(nodeId: string): Promise<string>;
  /** Which node the machine with these keys is, as the boot token would say. */
  seat(thumbprint: string, nodeId: string): void;
  close(): Promise<void>;
}

export async function startTamperingSite(
  agentsUrl: string,
  siteId: string,
  credentials: Credentials & { wellKnown: WellKnown },
): Promise<TamperingSite> {
  const news = new EventEmitter().setMaxListeners(0);
  const entries = new Map<string, string>();
  const seats = new Map<string, string>();
  const sessions = new Map<string, RamdiskJoin>();
  const relayed: Operation[] = [];
  const centre = await startFakeSite(agentsUrl, siteId, credentials, async (operation, site) => {
    if (operation.target === 'ramdisk') relayed.push(operation);
    else await site.succeed(operation);
    if (operation.action === 'boot.prepareRamdisk')
      entries.set(operation.nodeId, String(operation.input.entry));
    news.emit('news');
  });

  const until = async <Value>(find: () => Value | undefined, ms = 10_000): Promise<Value | undefined> => {
    const end = AbortSignal.timeout(ms);
    for (;;) {
      const found = find();
      if (found !== undefined || end.aborted) return found;
      await once(news, 'news', { signal: end }).catch(() => {});
    }
  };

  async function join(message: RamdiskJoin): Promise<RamdiskJoinAnswer> {
    const nodeId = (await until(() => seats.get(machineThumbprint(message)))) ?? '';
    const entry = entries.get(nodeId) ?? '';
    const { mac, bootId, trust } = message;
    const place = { eventId: randomUUID(), at: new Date().toISOString(), nodeId, mac, bootId };
    const event: Joined = { ...place, type: 'agent.joined', role: 'ramdisk', trust, join: message, entry };
    await centre.report({ events: [site.tampering.event?.(event) ?? event] });
    const session = randomUUID();
    sessions.set(session, message);
    const shown = site.tampering.entry?.(entry) ?? entry;
    const answer = { protocol: 1, siteId, nodeId, entry: shown, session, imagesUrl: site.url };
    return site.tampering.answer?.(answer) ?? answer;
  }

  const nodeOf = (join: RamdiskJoin) => seats.get(machineThumbprint(join));

  async function secret({ ref }: MachineSecretRequest, join: RamdiskJoin): Promise<MachineSecretAnswer> {
    const secrets = relayed
      .filter((each) => each.nodeId === nodeOf(join))
      .flatMap((each) => each.secrets ?? []);
    const { sealed = '' } = secrets.findLast((each) => each.ref === ref) ?? {};
    return (await site.tampering.secret?.({ sealed }, join)) ?? { sealed };
  }

  async function poll({ taken, waitSeconds }: MachinePoll, join: RamdiskJoin) {
    const nodeId = nodeOf(join);
    const mine = () => {
      const fresh = relayed.filter((each) => each.nodeId === nodeId && !taken.includes(each.operationId));
      return fresh.length === 0 ? undefined : fresh;
    };
    const operations = (await until(mine, waitSeconds * 1000)) ?? [];
    const hand = ({ operationId, jws = '' }: Operation) => {
      const handed = { operationId, jws };
      return site.tampering.handed?.(handed) ?? handed;
    };
    return { operations: operations.map(hand), cancelled: [] };
  }

  async function report({ results }: MachineReport): Promise<object> {
    if (results.length > 0)
      await centre.report({ results: results.map((each) => site.tampering.result?.(each) ?? each) });
    return {};
  }

  const server = createServer(
    { key: credentials.key, cert: credentials.certificate },
    async (request, response) => {
      const body = (await json(request)) as never;
      const bearer = request.headers.authorization?.replace('Bearer ', '') ?? '';
      const joined = sessions.get(bearer) as RamdiskJoin;
      const routes: Record<string, () => Promise<object>> = {
        '/v1/join': () => join(body),
        '/v1/machine/poll': () => poll(body, joined),
        '/v1/machine/secret': () => secret(body, joined),
        '/v1/machine/report': () => report(body),
      };
      const answered = await routes[request.url ?? '']?.();
      response.writeHead(answered === undefined ? 404 : 200).end(JSON.stringify(answered ?? {}));
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const site: TamperingSite = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tampering: {},
    relayed,
    entryOf: async (nodeId) => (await until(() => entries.get(nodeId))) ?? '',
    seat: (thumbprint, nodeId) => {
      seats.set(thumbprint, nodeId);
      news.emit('news');
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await centre.stop();
    },
  };
  return site;
}
