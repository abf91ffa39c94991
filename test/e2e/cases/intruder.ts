import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { connect } from 'node:tls';
import { Agent } from 'undici';
import { type Closable, closeAll } from '#base/shutdown.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import { attemptsAtAgents } from '../intruder/agents.ts';
import { attemptsAtApi } from '../intruder/api.ts';
import { type Attempt, send, success } from '../intruder/attempt.ts';
import {
  type Centre,
  lootAgents,
  lootTokens,
  mint,
  newSite,
  pinsOf,
  startCentre,
} from '../intruder/centres.ts';
import { attemptsAtHook } from '../intruder/hook.ts';
import { attemptsAtMachines, joinMessage } from '../intruder/machines.ts';
import { attemptsMeanwhile } from '../intruder/meanwhile.ts';
import { attemptsAtAdmin, attemptsAtBoot, attemptsAtSocket } from '../intruder/open.ts';
import { type Site, startSite } from '../intruder/site.ts';
import type { Report } from '../report.ts';

export const intruder: EndToEndCase = {
  name: 'intruder',
  about: 'each endpoint of each listener with no, stale, stolen and foreign credentials: none gets in',
  async run(report, { keep }) {
    const work = await mkdtemp(path.join(os.tmpdir(), 'railhead-intruder-'));
    const started: Closable[] = keep ? [] : [{ close: () => rm(work, { recursive: true }) }];
    try {
      await intrude(report, work, started);
    } finally {
      report.phase('clean up');
      await closeAll(started);
    }
  },
};

async function intrude(report: Report, work: string, started: Closable[]): Promise<void> {
  const running = <Process extends { stop(): Promise<void> }>(one: Process): Process => {
    started.push({ close: () => one.stop() });
    return one;
  };
  report.phase('start');
  const centre = running(await startCentre(path.join(work, 'centre')));
  const foreign = running(await startCentre(path.join(work, 'foreign')));
  const { siteId, token } = await newSite(centre, 'north');
  const join = { server: centre.agentsUrl, siteId, token, pins: await pinsOf(centre) };
  const site = running(await startSite(work, join));

  report.phase('the centre’s API');
  await tryAll(report, 'API', attemptsAtApi(centre.apiUrl, await lootTokens(centre, foreign)));
  report.phase('the centre’s agents');
  const loot = await lootAgents(centre, foreign, { siteId, usedToken: token });
  await tryAll(report, 'agents', await attemptsAtAgents(centre.agentsUrl, loot));
  report.phase('credentials that go stale meanwhile');
  await tryAll(report, 'revoked meanwhile', attemptsMeanwhile(centre));
  report.phase('the site');
  await tryAll(report, 'machines', attemptsAtMachines(site.machineUrl, site.loot));
  await tryAll(report, 'BMC events', attemptsAtHook(site.hookUrl, site.hookLoot));
  await tryAll(report, 'boot', attemptsAtBoot(site.bootUrl, site.loot.mac));
  await tryAll(report, 'admin', attemptsAtAdmin(site.adminUrl));
  await tryAll(report, 'local socket', attemptsAtSocket(site.askAsNobody));
  report.phase('everywhere');
  await unknownRoutes(report, centre, site);
  await oldTls(report, centre, site);
  await rightful(report, centre, site, loot);
}

/** One check for each route: whatever is tried at it is refused. */
async function tryAll(report: Report, listener: string, attempts: readonly Attempt[]): Promise<void> {
  for (const [route, tries] of Map.groupBy(attempts, (attempt) => attempt.route)) {
    const got: string[] = [];
    for (const attempt of tries) {
      const how = await success(attempt);
      if (how !== undefined) got.push(how);
    }
    report.check(`${listener}: ${route}`, got.length === 0, got);
  }
}

const anyCertificate = new Agent({ connect: { rejectUnauthorized: false } });

/** What no listener has is answered alike by all, and its query is not repeated. */
async function unknownRoutes(report: Report, { apiUrl, agentsUrl }: Centre, site: Site): Promise<void> {
  const urls = {
    API: apiUrl,
    agents: agentsUrl,
    machines: site.machineUrl,
    'BMC events': site.hookUrl,
    boot: site.bootUrl,
    admin: site.adminUrl,
  };
  for (const [listener, url] of Object.entries(urls)) {
    const { status, text } = await send('GET /v1/unknown', url, {
      dispatcher: anyCertificate,
      path: '/v1/unknown?token=hunter2',
    });
    const alike = status === 404 && /^\{"error":\{"code":"NOT_FOUND"/.test(text) && !text.includes('hunter2');
    report.check(`${listener}: an unknown route is NOT_FOUND`, alike, { status, text });
  }
}

async function oldTls(report: Report, { agentsUrl }: Centre, { machineUrl }: Site): Promise<void> {
  for (const [listener, url] of Object.entries({ agents: agentsUrl, machines: machineUrl })) {
    const { hostname, port } = new URL(url);
    const found = await new Promise<string>((resolve) => {
      const socket = connect({
        host: hostname,
        port: Number(port),
        maxVersion: 'TLSv1.2',
        rejectUnauthorized: false,
      });
      socket.once('secureConnect', () => resolve(`connected by ${socket.getProtocol()}`));
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });
    report.check(`${listener}: TLS 1.2 is refused`, found === 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', found);
  }
}

/** Without this a listener that refuses everybody would pass. */
async function rightful(
  report: Report,
  centre: Centre,
  { machineUrl, hookUrl, loot, hookLoot, lease }: Site,
  { node, wellKnown }: Awaited<ReturnType<typeof lootAgents>>,
): Promise<void> {
  const dispatcher = anyCertificate;
  const { token } = await mint(centre, 'compute:sites:read@compute-fleet:*');
  const mayCome = async (what: string, answer: ReturnType<typeof send>) => {
    const { status, text } = await answer;
    report.check(`${what} is let in`, status === 200, { status, text });
  };
  await mayCome(
    'a good token',
    send('POST /api/compute/sites/list', centre.apiUrl, { bearer: token, body: {} }),
  );
  const asNode = new Agent({ connect: { ca: wellKnown.servingCa, key: node.key, cert: node.certificate } });
  const poll = { protocol: 1, observedGeneration: 0, waitSeconds: 0, taken: [] };
  await mayCome(
    'a good certificate',
    send('POST /v1/agent/poll', centre.agentsUrl, { dispatcher: asNode, body: poll }),
  );
  await asNode.close();
  const session = { dispatcher, bearer: loot.sessions.good, body: { waitSeconds: 0, taken: [] } };
  const told = { dispatcher, body: { Events: [] }, path: `/v1/bmc-events/${hookLoot.good}` };
  await mayCome('a BMC', send('POST /', hookUrl, told));
  await mayCome('a good session', send('POST /v1/machine/poll', machineUrl, session));
  const localAddress = '127.77.0.10';
  await lease(localAddress);
  const asMachine = new Agent({ connect: { rejectUnauthorized: false }, localAddress });
  const body = await joinMessage(loot.bootTokens.good, loot.mac);
  await mayCome('a good boot token', send('POST /v1/join', machineUrl, { dispatcher: asMachine, body }));
  await asMachine.close();
}
