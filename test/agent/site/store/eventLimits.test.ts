import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openEvents } from '#agent/site/store/events.ts';
import { migrations } from '#agent/site/store/schema.ts';
import { openSqlite } from '#base/sqlite.ts';
import type { RamdiskJoin } from '#contract/join.ts';

async function newEvents(
  most = {
    ofMachine: 5,
    ofType: { 'boot.log': 2, 'bmc.health': 1, 'console.output': 2 },
    ofStrangers: 20,
    ofNodes: 30,
  },
) {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-events-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const database = openSqlite(path.join(directory, 'state.db'), migrations);
  onTestFinished(() => void database.close());
  return openEvents(database, Date.now, most);
}

type Events = Awaited<ReturnType<typeof newEvents>>;

const boot = (text: string, mac: string, nodeId?: string) => ({
  // Of strangers too an alarm is for the centre, a step of a boot is not.
  type: 'machine.alarm' as const,
  reason: 'other-host' as const,
  text,
  mac,
  ...(nodeId === undefined ? {} : { nodeId }),
});
const texts = (events: Events, mac: string) =>
  events.timeline(mac, 100).map((event) => ('text' in event ? event.text : event.type));

test('of one machine the newest events are kept', async () => {
  const events = await newEvents();
  for (let at = 0; at < 8; at++) events.add(boot(`${at}`, 'a', 'node_1'));
  expect(texts(events, 'a')).toEqual(['3', '4', '5', '6', '7']);
  expect(events.dropped()).toBe(3);
});

test('a flood of made-up MACs is bounded, and displaces nothing of a node', async () => {
  const events = await newEvents();
  events.add(boot('first', 'a', 'node_1'));
  for (let at = 0; at < 1000; at++) events.add(boot('flood', `${at}`));
  expect(events.untold(2000).length).toBeLessThanOrEqual(21);
  expect(texts(events, 'a')).toEqual(['first']);
  expect(texts(events, '999')).toEqual(['flood']);
});

test('what all nodes boot is bounded too', async () => {
  const events = await newEvents();
  for (let at = 0; at < 100; at++) events.add(boot('boot', `${at}`, 'node_1'));
  expect(events.untold(2000).length).toBeLessThanOrEqual(30);
});

test('a join that the centre has not taken outlives a flood of boots of its MAC', async () => {
  const events = await newEvents();
  const join = {} as RamdiskJoin;
  const facts = { role: 'ramdisk', trust: 'network', entry: 'jws', mac: 'a', nodeId: 'node_1' } as const;
  events.add({ type: 'agent.joined', join, ...facts });
  for (let at = 0; at < 50; at++) events.add(boot(`${at}`, 'a', 'node_1'));
  expect(texts(events, 'a')[0]).toBe('agent.joined');
  expect(texts(events, 'a').length).toBeLessThanOrEqual(6);
});

test('what was told and forgotten makes place, and was not dropped', async () => {
  const events = await newEvents();
  for (let at = 0; at < 20; at++) events.add(boot('old', `${at}`));
  events.taken(events.untold(100));
  events.prune(Date.now() + 1);
  for (let at = 0; at < 20; at++) events.add(boot('new', `${at}`));
  expect(events.untold(100)).toHaveLength(20);
  expect(events.dropped()).toBe(0);
});

test('the lines of an installer displace one another and no step of a boot, and stay at the site', async () => {
  const events = await newEvents();
  events.add(boot('step', 'a', 'node_1'));
  for (let at = 0; at < 50; at++)
    events.add({ type: 'boot.log', text: `line ${at}`, mac: 'a', nodeId: 'node_1' });
  events.add({ type: 'boot.log', text: 'of another', mac: 'b' });
  expect(texts(events, 'a')).toEqual(['step', 'line 48', 'line 49']);
  expect(texts(events, 'b')).toEqual(['of another']);
  expect(events.untold(10)).toHaveLength(1);
  expect(events.dropped()).toBe(0);
});

test('what a recorded console prints displaces its own oldest pieces and no step of a boot', async () => {
  const events = await newEvents();
  events.add(boot('step', 'a', 'node_1'));
  for (let at = 0; at < 50; at++)
    events.add({ type: 'console.output', text: `${at}`, mac: 'a', nodeId: 'node_1', recordingId: 'rec_1' });
  expect(texts(events, 'a')).toEqual(['step', '48', '49']);
  expect(events.dropped()).toBe(48);
});

test('a BMC that cannot make up its mind displaces no step of a boot', async () => {
  const events = await newEvents();
  events.add(boot('step', 'a', 'node_1'));
  for (let at = 0; at < 50; at++)
    events.add({
      type: 'bmc.health',
      text: `${at}`,
      mac: 'a',
      nodeId: 'node_1',
      health: { health: 'OK', faults: [] },
    });
  expect(texts(events, 'a')).toEqual(['step', '49']);
});

test('of long events the centre is told fewer at once, and one at least', async () => {
  const events = await newEvents();
  for (let at = 0; at < 4; at++) events.add(boot('€'.repeat(1000), `${at}`, 'node_1'));
  expect(events.untold(10, 7000)).toHaveLength(2);
  expect(events.untold(1, 7000)).toHaveLength(1);
  expect(events.untold(10, 10)).toHaveLength(1);
  expect(events.untold(10)).toHaveLength(4);
});

test('a machine that is known by its UUID alone is bounded as well, and displaces nothing of others', async () => {
  const events = await newEvents();
  events.add(boot('of another', 'a', 'node_1'));
  for (let at = 0; at < 50; at++)
    events.add({ type: 'console.output', text: `${at}`, nodeId: 'node_2', recordingId: 'rec_1' });
  expect(events.untold(100).map((event) => ('text' in event ? event.text : ''))).toEqual([
    'of another',
    '48',
    '49',
  ]);
});
