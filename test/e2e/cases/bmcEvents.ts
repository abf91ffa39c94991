import { appendFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultName } from '#rack/bmc/faults.ts';
import { loopbackCertificate, type SimulatedBmc, startSimulatedBmc } from '#rack/bmc/simulatedBmc.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import type { Lab, LabSite } from '../loopback/lab.ts';
import { eventually, withLab } from '../loopback/withLab.ts';
import type { Report } from '../report.ts';

const tenantId = 'root';
/** How often the site asks; half as much again at most, and three times as seldom where a BMC tells by itself. */
const askedEveryMs = 6000;
const atOnceMs = 2000;

/** One BMC for each way of listening, and for what can be wrong with it. */
const kinds = {
  stream: [],
  'stream-garbage': ['stream-garbage'],
  webhook: ['no-event-stream'],
  full: ['no-event-stream', 'subscriptions-full'],
  poll: ['no-event-service'],
} as const satisfies Record<string, readonly FaultName[]>;
type Kind = keyof typeof kinds;
const names = Object.keys(kinds) as Kind[];

interface NodeView {
  power?: string;
  health?: string;
  events?: string;
}

interface TimelineEvent {
  type: string;
  text: string;
}

export const bmcEvents: EndToEndCase = {
  name: 'bmc-events',
  about:
    'power that somebody changes at the machine and entries of its BMC’s log are known at the centre: by stream, by webhook, by asking; with garbage, a full table and restarts; no machine is started',
  run: async (report) => {
    const tls = await loopbackCertificate();
    const bmcs = Object.fromEntries(
      await Promise.all(names.map(async (kind) => [kind, await startBmc(kind, tls)] as const)),
    ) as Record<Kind, SimulatedBmc>;
    try {
      await withLab(report, (lab) => watch(report, lab, bmcs, tls));
    } finally {
      await Promise.all(Object.values(bmcs).map((bmc) => bmc.close()));
    }
  },
};

type Tls = Awaited<ReturnType<typeof loopbackCertificate>>;

function startBmc(
  kind: Kind,
  tls: Tls,
  more: { port?: number; record?: SimulatedBmc['record'] } = {},
): Promise<SimulatedBmc> {
  return startSimulatedBmc({ directory: '/nonexistent', tls, faults: kinds[kind], ...more });
}

async function watch(report: Report, lab: Lab, bmcs: Record<Kind, SimulatedBmc>, tls: Tls): Promise<void> {
  report.phase('start');
  for (const bmc of Object.values(bmcs)) bmc.eventLog.write('from before');
  const site = await lab.newSite('north');
  await appendFile(site.configFile, `[bmc]\nhealthEvery = "${askedEveryMs / 1000}s"\nlogEvery = "1s"\n`);
  await lab.startCentre();
  await lab.join(site);
  const agent = await lab.startSite(site);
  for (const kind of names) await enrol(lab, site, kind, bmcs[kind]);
  await checkWays(report, lab);
  await checkPower(report, lab, bmcs);
  await checkLogs(report, lab, bmcs);

  const most = Math.max(...Object.values(bmcs).map(({ sessions }) => sessions.most));
  report.check('no BMC ever had more than one session of the site', most === 1, most);

  report.phase('the site is killed and starts again');
  const kept = bmcs.webhook.events.subscriptions.map(({ id }) => id);
  await agent.kill();
  bmcs.stream.eventLog.write('while the site was away');
  const again = await lab.startSite(site);
  await checkLog(report, lab, 'stream', 'while the site was away');
  const same = await eventually(async () => (bmcs.stream.events.streams === 1 ? true : undefined));
  report.check('the stream is open again, one of them', same === true, bmcs.stream.events.streams);
  const ids = bmcs.webhook.events.subscriptions.map(({ id }) => id);
  report.check('the subscription is the one that was there', ids.join() === kept.join(), { kept, ids });

  await checkBmcRestart(report, lab, bmcs, tls);
  await checkEnd(report, bmcs, () => again.stop());
}

async function enrol(lab: Lab, { siteId }: LabSite, kind: Kind, bmc: SimulatedBmc): Promise<void> {
  const { username, password } = bmc.record.bmc;
  const answer = await lab.call('metal.enroll', {
    ...{ tenantId, siteId, nodeId: kind, macs: [`52:54:00:00:73:0${names.indexOf(kind) + 1}`] },
    bmc: { address: bmc.address, credentialRef: `secret://bmc/${kind}` },
    bmcCredentials: { username, password },
  });
  if (answer.data === undefined) throw new Error(JSON.stringify(answer));
}

async function node(lab: Lab, nodeId: string): Promise<NodeView> {
  return (await lab.call<NodeView>('nodes.get', { tenantId, nodeId })).data;
}

async function timeline(lab: Lab, nodeId: string, type: string): Promise<string[]> {
  const input = { tenantId, nodeId, last: 200, limit: 200 };
  const { data } = await lab.call<{ items: TimelineEvent[] }>('nodes.events', input);
  return data.items.filter((event) => event.type === type).map(({ text }) => text);
}

const expectedWays: Record<Kind, string> = {
  stream: 'sse',
  'stream-garbage': 'sse',
  webhook: 'webhook',
  full: 'poll',
  poll: 'poll',
};

async function checkWays(report: Report, lab: Lab): Promise<void> {
  report.phase('who tells how');
  for (const kind of names) {
    const way = expectedWays[kind];
    const seen = await eventually(async () => {
      const found = await node(lab, kind);
      return found.events === way && found.power === 'off' ? found : undefined;
    }, 30_000);
    report.check(`${kind}: ${way}`, seen !== undefined, await node(lab, kind));
  }
  const said = await eventually(async () => (await timeline(lab, 'full', 'bmc.events'))[0]);
  report.check('a full table is told', /takes no more subscriptions/.test(said ?? ''), said);
}

/** Somebody presses the button of every machine. */
async function checkPower(report: Report, lab: Lab, bmcs: Record<Kind, SimulatedBmc>): Promise<void> {
  report.phase('power changes behind our back');
  for (const [powerState, power] of [
    ['On', 'on'],
    ['Off', 'off'],
  ] as const) {
    // What came before has settled.
    await sleep(6000);
    const known = await Promise.all(
      names.map(async (kind) => {
        const began = performance.now();
        bmcs[kind].machine.powerState = powerState;
        const within = expectedWays[kind] === 'poll' ? 1.5 * askedEveryMs + atOnceMs : atOnceMs;
        const found = await eventually(async () => {
          const { power: now } = await node(lab, kind);
          return now === power ? now : undefined;
        }, within);
        return { kind, found, seconds: (performance.now() - began) / 1000 };
      }),
    );
    for (const { kind, found, seconds } of known) {
      report.check(`${kind}: power ${power} is in the node's record in time`, found === power);
      report.note(`${kind}: ${power}`, seconds);
    }
  }
}

async function checkLogs(report: Report, lab: Lab, bmcs: Record<Kind, SimulatedBmc>): Promise<void> {
  report.phase('entries of the logs');
  for (const kind of names) {
    const entry = { severity: 'Critical', sensorType: 'Fan' } as const;
    bmcs[kind].eventLog.write(`fan 3 of ${kind} failed`, entry);
  }
  for (const kind of names) await checkLog(report, lab, kind, `fan 3 of ${kind} failed`);
  const texts = await timeline(lab, 'stream', 'bmc.log');
  const isOld =
    texts.some((text) => text.includes('from before;')) && !texts.some((text) => /: from before/.test(text));
  report.check('of old entries only the number is told', isOld, texts);
}

async function checkLog(report: Report, lab: Lab, kind: Kind, message: string): Promise<void> {
  const of = async () => (await timeline(lab, kind, 'bmc.log')).filter((text) => text.includes(message));
  await eventually(async () => ((await of()).length > 0 ? true : undefined), 20_000);
  const found = await of();
  report.check(`${kind}: “${message}” stands in the timeline once`, found.length === 1, found);
}

async function checkBmcRestart(
  report: Report,
  lab: Lab,
  bmcs: Record<Kind, SimulatedBmc>,
  tls: Tls,
): Promise<void> {
  report.phase('a BMC starts anew and has forgotten everything');
  for (const kind of ['stream', 'webhook'] as const) {
    const { record, address, close } = bmcs[kind];
    await close();
    const port = Number(new URL(address).port);
    bmcs[kind] = await startBmc(kind, tls, { port, record });
    bmcs[kind].machine.powerState = 'On';
  }
  const isHeard = async () =>
    bmcs.stream.events.streams === 1 && bmcs.webhook.events.subscriptions.length === 1 ? true : undefined;
  const heard = await eventually(isHeard, 40_000);
  report.check('it is listened to again', heard === true, {
    streams: bmcs.stream.events.streams,
    subscriptions: bmcs.webhook.events.subscriptions.length,
  });
  for (const kind of ['stream', 'webhook'] as const) {
    const found = await eventually(async () => {
      const seen = await node(lab, kind);
      return seen.power === 'on' ? seen : undefined;
    }, 20_000);
    report.check(`${kind}: what was missed meanwhile is known`, found !== undefined);
  }
}

async function checkEnd(
  report: Report,
  bmcs: Record<Kind, SimulatedBmc>,
  stop: () => Promise<void>,
): Promise<void> {
  report.phase('the site stops');
  await stop();
  // Also none of the agent that was killed.
  const left = Object.values(bmcs).map(({ events, sessions }) => ({
    streams: events.streams,
    subscriptions: events.subscriptions.length,
    sessions: sessions.ids().length,
  }));
  const isEmpty = left.every(
    ({ streams, subscriptions, sessions }) => streams + subscriptions + sessions === 0,
  );
  report.check('no stream, subscription or session stays at a BMC', isEmpty, left);
}
