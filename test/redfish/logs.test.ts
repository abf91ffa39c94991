import { describe, expect, onTestFinished, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import type { LogMark } from '#contract/bmcLog.ts';
import type { LogRecord } from '#rack/bmc/eventLog.ts';
import { loopbackCertificate, startSimulatedBmc } from '#rack/bmc/simulatedBmc.ts';
import { type Bmc, openBmc } from '#redfish/bmc.ts';
import type { JsonObject } from '#redfish/json.ts';
import { plainSystem, startBench } from './bmcBench.ts';

const root = '/redfish/v1';
const [ofSystem, ofManager] = [`${root}/Systems/1/LogServices`, `${root}/Managers/1/LogServices`];
const link = (path: string) => ({ '@odata.id': path });
const tls = await loopbackCertificate();

/** The rack's BMC, and a client of it that reads its log on from where it was. */
async function startRackBmc() {
  const rack = await startSimulatedBmc({ directory: '/nonexistent', tls });
  const { username, password } = rack.record.bmc;
  const bmc = openBmc({ address: rack.address, username, password, log: silentLog() });
  onTestFinished(async () => {
    await bmc.close();
    await rack.close();
  });
  return { rack, read: reader(bmc) };
}

function reader(bmc: Bmc, mark?: LogMark) {
  let at = mark;
  return async () => {
    const reading = await bmc.readLog(at);
    at = reading?.mark;
    return { messages: reading?.fresh.map(({ message }) => message), cleared: reading?.cleared, mark: at };
  };
}

describe('new entries are told once', () => {
  test('and none of those that were there at the first contact', async () => {
    const { rack, read } = await startRackBmc();
    for (let at = 1; at <= 120; at++) rack.eventLog.write(`old ${at}`);
    expect(await read()).toMatchObject({ messages: [], cleared: false, mark: { count: 120 } });
    expect((await read()).messages).toEqual([]);
    rack.eventLog.write('fan 3 failed', { severity: 'Critical', sensorType: 'Fan' });
    rack.eventLog.write('fan 3 is back');
    expect((await read()).messages).toEqual(['fan 3 failed', 'fan 3 is back']);
    expect((await read()).messages).toEqual([]);
  });

  test('with two requests and no more, however long the log is', async () => {
    const { rack, read } = await startRackBmc();
    for (let at = 1; at <= 500; at++) rack.eventLog.write(`old ${at}`);
    await read();
    rack.requests.length = 0;
    rack.eventLog.write('new');
    expect((await read()).messages).toEqual(['new']);
    expect(rack.requests.map(({ url }) => url.replace(/^.*LogServices/, ''))).toEqual([
      '/SEL/Entries?$skip=499',
    ]);
  });

  test('and at the first contact with a long log two pages are read and no more', async () => {
    const { rack, read } = await startRackBmc();
    for (let at = 1; at <= 1000; at++) rack.eventLog.write(`old ${at}`);
    expect((await read()).mark?.count).toBe(1000);
    expect(rack.requests.filter(({ url }) => url.includes('/Entries'))).toHaveLength(2);
  });

  test('over several pages', async () => {
    const { rack, read } = await startRackBmc();
    rack.eventLog.write('old');
    await read();
    for (let at = 1; at <= 130; at++) rack.eventLog.write(`new ${at}`);
    const { messages = [] } = await read();
    expect([messages.length, messages[0], messages.at(-1)]).toEqual([130, 'new 1', 'new 130']);
  });

  test('a log that was cleared tells its new entries, though they have the numbers of old ones', async () => {
    const { rack, read } = await startRackBmc();
    rack.eventLog.write('one');
    rack.eventLog.write('two');
    await read();
    rack.eventLog.clear();
    rack.eventLog.write('three');
    rack.eventLog.write('four');
    expect(await read()).toMatchObject({ messages: ['three', 'four'], cleared: true });
    rack.eventLog.clear();
    expect(await read()).toMatchObject({ messages: [], cleared: true, mark: { count: 0 } });
    expect(await read()).toMatchObject({ messages: [], cleared: false });
    rack.eventLog.write('five');
    expect((await read()).messages).toEqual(['five']);
  });

  test('though the clock of the BMC fell back to 1970', async () => {
    const { rack, read } = await startRackBmc();
    rack.eventLog.write('before');
    await read();
    rack.eventLog.now = () => 12_000;
    rack.eventLog.write('after');
    expect((await read()).messages).toEqual(['after']);
    expect((await read()).messages).toEqual([]);
  });

  test('though the log goes round in a circle', async () => {
    const { rack, read } = await startRackBmc();
    for (let at = 1; at <= 1000; at++) rack.eventLog.write(`old ${at}`);
    await read();
    rack.eventLog.write('new 1');
    rack.eventLog.write('new 2');
    expect(await read()).toMatchObject({ messages: ['new 1', 'new 2'], cleared: false });
  });
});

const entries = `${ofSystem}/SEL/Entries`;
type Entry = Pick<LogRecord, 'id' | 'message'>;
const entryOf = ({ id, message }: Entry, more: JsonObject = {}): JsonObject => ({
  ...link(`${entries}/${id}`),
  Id: String(id),
  Created: new Date(id * 1000).toISOString(),
  Message: message,
  ...more,
});

/** A BMC whose log is written as a test has it. */
async function startLogBench(more: JsonObject = {}) {
  const bench = await startBench({ system: { ...plainSystem, LogServices: link(ofSystem) } });
  const { tree } = bench.fake;
  tree[ofSystem] = { Members: [link(`${ofSystem}/SEL`)] };
  tree[`${ofSystem}/SEL`] = { Id: 'SEL', Entries: link(entries) };
  Object.assign(tree[root] ?? {}, more);
  return { tree, fake: bench.fake, read: reader(bench.bmc) };
}

describe('logs of another make', () => {
  test('the newest entry first (iDRAC): as far as something known, and not to the end', async () => {
    const { tree, fake, read } = await startLogBench();
    const page = (from: number, to: number, next?: string): JsonObject => ({
      'Members@odata.count': 100,
      Members: Array.from({ length: from - to + 1 }, (_, at) =>
        entryOf({ id: from - at, message: `m ${from - at}` }),
      ),
      ...(next !== undefined && { 'Members@odata.nextLink': next }),
    });
    tree[entries] = page(100, 51, `${entries}?$skip=50`);
    tree[`${entries}?$skip=50`] = page(50, 1);
    expect((await read()).messages).toEqual([]);
    tree[entries] = page(102, 53, `${entries}?$skip=50`);
    const before = fake.requests.length;
    expect((await read()).messages).toEqual(['m 101', 'm 102']);
    expect(fake.requests.length - before).toBe(1);
  });

  test('entries that are links alone: one request says that nothing is new, and new ones are read one by one', async () => {
    const { tree, fake, read } = await startLogBench();
    const have = (...some: Entry[]) => {
      tree[entries] = { Members: some.map(({ id }) => link(`${entries}/${id}`)) };
      for (const entry of some) tree[`${entries}/${entry.id}`] = entryOf(entry);
    };
    const old = Array.from({ length: 30 }, (_, at) => ({ id: at + 1, message: `old ${at + 1}` }));
    have(...old);
    expect((await read()).messages).toEqual([]);
    have(...old, { id: 31, message: 'new 31' }, { id: 32, message: 'new 32' });
    const before = fake.requests.length;
    expect((await read()).messages).toEqual(['new 31', 'new 32']);
    expect(fake.requests.length - before).toBe(4);
    have({ id: 1, message: 'after the clearing' });
    expect(await read()).toMatchObject({ messages: ['after the clearing'], cleared: true });
  });

  test('a sensor type that is a list (iDRAC 8) is read', async () => {
    const { tree, read } = await startLogBench();
    tree[entries] = { Members: [] };
    await read();
    const odd = { SensorType: [{ Member: 'Physical Chassis Security' }], Severity: 'Critical' };
    tree[entries] = { Members: [entryOf({ id: 1, message: 'open' }, odd)] };
    const { messages } = await read();
    expect(messages).toEqual(['open']);
  });

  test('a log without end is left', async () => {
    const { tree, read } = await startLogBench();
    tree[entries] = { Members: [entryOf({ id: 1, message: 'x' })], 'Members@odata.nextLink': `${entries}?a` };
    tree[`${entries}?a`] = { Members: [], 'Members@odata.nextLink': `${entries}?b` };
    tree[`${entries}?b`] = { Members: [], 'Members@odata.nextLink': `${entries}?a` };
    expect((await read()).messages).toEqual([]);
  });

  test('of ten thousand entries, the oldest first, the newest are skipped to where the links to pages skip', async () => {
    const { tree, fake, read } = await startLogBench();
    const page = (from: number, to: number, count: number, next?: string) => ({
      Members: Array.from({ length: to - from + 1 }, (_, at) =>
        entryOf({ id: from + at, message: `m ${from + at}` }),
      ),
      'Members@odata.count': count,
      ...(next !== undefined && { 'Members@odata.nextLink': next }),
    });
    tree[entries] = page(1, 50, 10_000, `${entries}?$skip=50`);
    tree[`${entries}?$skip=9999`] = page(10_000, 10_000, 10_000);
    expect((await read()).messages).toEqual([]);
    tree[`${entries}?$skip=9999`] = page(10_000, 10_002, 10_002);
    const before = fake.requests.length;
    expect((await read()).messages).toEqual(['m 10001', 'm 10002']);
    expect(fake.requests.length - before).toBe(1);
  });

  test('pages in a circle are read once, and what is new on them is told once', async () => {
    const { tree, fake, read } = await startLogBench();
    const pages = (newest: number) => {
      const old = [entryOf({ id: 1, message: 'm 1' }), entryOf({ id: 2, message: 'm 2' })];
      tree[entries] = { Members: old, 'Members@odata.nextLink': `${entries}?b` };
      const last = entryOf({ id: newest, message: `m ${newest}` });
      tree[`${entries}?b`] = { Members: [last], 'Members@odata.nextLink': entries };
    };
    pages(3);
    expect((await read()).messages).toEqual([]);
    pages(4);
    const before = fake.requests.length;
    expect((await read()).messages).toEqual(['m 4']);
    expect(fake.requests.length - before).toBe(3);
  });

  test('a BMC without any log has none, and is asked for it once', async () => {
    const { fake, bmc } = await startBench();
    expect(await bmc.readLog(undefined)).toBeUndefined();
    const before = fake.requests.length;
    expect(await bmc.readLog(undefined)).toBeUndefined();
    expect(fake.requests.length).toBe(before);
  });
});

const system = (manufacturer: string) => ({ ...plainSystem, Manufacturer: manufacturer });

test.each([
  ['Sel', 'Dell Inc.', [], ['Lclog', 'Sel', 'FaultList']],
  ['IML', 'HPE', ['IML', 'SL', 'Event'], ['IEL']],
  ['Log1', 'Supermicro', ['Log1'], ['Log1']],
  ['StandardLog', 'Lenovo', ['StandardLog', 'ActiveLog'], []],
  ['PlatformLog', 'Lenovo', ['PlatformLog', 'AuditLog', 'ActiveLog', 'MaintenanceLog'], []],
  ['SystemEventLog', 'FUJITSU', [], ['InternalEventLog', 'SystemEventLog']],
  ['SEL', 'OpenBMC', ['EventLog', 'SEL', 'PostCodes', 'Crashdump'], ['Journal']],
  ['EventLog', 'Nobody', ['PostCodes', 'EventLog'], ['Audit']],
])('the log %s of %s is the one that is read', async (wanted, maker, systemLogs, managerLogs) => {
  const links = { ManagedBy: [link(`${root}/Managers/1`)] };
  const { fake, bmc } = await startBench({
    system: { ...system(maker), LogServices: link(ofSystem), Links: links },
  });
  fake.tree[`${root}/Managers/1`] = { LogServices: link(ofManager) };
  for (const [at, names] of [
    [ofSystem, systemLogs],
    [ofManager, managerLogs],
  ] as const) {
    fake.tree[at] = { Members: names.map((name) => link(`${at}/${name}`)) };
    for (const name of names) {
      fake.tree[`${at}/${name}`] = { Id: name, Entries: link(`${at}/${name}/Entries`) };
      fake.tree[`${at}/${name}/Entries`] = { Members: [] };
    }
  }
  const at = systemLogs.includes(wanted as never) ? ofSystem : ofManager;
  expect((await bmc.readLog(undefined))?.mark.log).toBe(`${at}/${wanted}/Entries`);
});
