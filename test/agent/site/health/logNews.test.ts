import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { logNews, newBudget } from '#agent/site/health/logNews.ts';
import { lookAtLog, newLooked } from '#agent/site/health/look.ts';
import { openState } from '#agent/site/store/state.ts';
import { silentLog } from '#base/log.ts';
import { type BmcLogEntry, type LogMark, readingOf } from '#contract/bmcLog.ts';

const entry = (at: number): BmcLogEntry => ({ id: String(at), message: `message ${at}` });
const entries = (count: number) => Array.from({ length: count }, (_, at) => entry(at + 1));
const reading = (fresh: BmcLogEntry[], cleared = false) => ({
  mark: { log: 'sel', count: fresh.length, seen: [] },
  fresh,
  cleared,
});

test('of an old log only its length is told', () => {
  const { happenings } = logNews(
    { ...reading([]), mark: { log: 'sel', count: 312, seen: [] } },
    true,
    newBudget(0),
    0,
  );
  expect(happenings).toEqual([
    { type: 'bmc.log', text: "the BMC's log has 312 entries from before; what comes is told" },
  ]);
});

test('of thousands the newest are told, and how many more there were; later as many as an hour brings', () => {
  const first = logNews(reading(entries(5000)), false, newBudget(0), 0);
  expect(first.happenings).toHaveLength(33);
  expect(first.happenings[0]?.text).toContain('4968 entries');
  expect(first.happenings.at(-1)).toMatchObject({ logEntry: { id: '5000' } });
  const soon = logNews(reading(entries(100)), false, first.budget, 60_000);
  expect(soon.happenings).toHaveLength(1);
  const later = logNews(reading(entries(100)), false, soon.budget, 660_000);
  expect(later.happenings).toHaveLength(11);
  expect(later.happenings[0]?.text).toContain('189 entries');
});

test('a log that was cleared is told of, with what came since', () => {
  const { happenings } = logNews(reading(entries(1), true), false, newBudget(0), 0);
  expect(happenings.map(({ text }) => text)).toEqual([
    "the BMC's log was cleared",
    "the BMC's log: message 1",
  ]);
});

test('an entry is told once, also by a site that starts anew; another address is another log', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-log-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  let log: BmcLogEntry[] = entries(3);
  const look = async (address = 'https://192.0.2.1') => {
    const state = await openState(directory);
    const node = {
      nodeId: 'node_1',
      macs: ['52:54:00:00:00:01'],
      bmc: { driver: 'redfish' as const, address },
    };
    const read = async (mark: LogMark | undefined) =>
      readingOf('sel', { entries: log.toReversed(), count: log.length, whole: true }, mark);
    const bmcs = {
      use: async (_node: unknown, work: (bmc: never) => unknown) => work({ readLog: read } as never),
    };
    await lookAtLog(node, newLooked(), { state, bmcs: bmcs as never, onEvent: () => {}, log: silentLog() });
    const told = state.events
      .timeline('52:54:00:00:00:01', 100)
      .map((event) => 'text' in event && event.text);
    state.close();
    return told;
  };
  const old = "the BMC's log has 3 entries from before; what comes is told";
  expect(await look()).toEqual([old]);
  log = entries(4);
  expect(await look()).toEqual([old, "the BMC's log: message 4"]);
  expect(await look()).toEqual([old, "the BMC's log: message 4"]);
  expect((await look('https://192.0.2.2')).at(-1)).toContain('4 entries from before');
});
