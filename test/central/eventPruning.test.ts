import { rm } from 'node:fs/promises';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { pruneEvents } from '#central/eventPruning.ts';
import { recordEvent } from '#central/events.ts';
import { openStore } from '#central/store/store.ts';
import { centreDirectory, dialect } from './directory.ts';

const day = 24 * 3_600_000;
const now = Date.now();
const ago = (days: number) => new Date(now - days * day).toISOString();

async function storeWith(events: readonly { type: string; days: number; times?: number }[]) {
  const directory = await centreDirectory();
  onTestFinished(() => rm(directory, { recursive: true }));
  const store = await openStore(directory);
  onTestFinished(() => store.destroy());
  await store.transaction().execute(async (queries) => {
    for (const { type, days, times = 1 } of events)
      for (let at = 0; at < times; at++)
        await recordEvent(queries, {
          type,
          at: ago(days),
          text: `${days}`,
          cause: 'site site_1',
          nodeId: 'node_1',
        });
  });
  const left = async () => {
    const rows = await store.selectFrom('events').select(['type', 'text']).orderBy('seq').execute();
    return rows.map(({ type, text }) => `${type} ${text}`);
  };
  return { store, left };
}

test('what a console printed is kept for 90 days, what a BMC said for a year, all else for good', async () => {
  const { store, left } = await storeWith([
    { type: 'console.output', days: 91 },
    { type: 'console.output', days: 89 },
    { type: 'console.ended', days: 4000 },
    { type: 'bmc.log', days: 366 },
    { type: 'bmc.log', days: 91 },
    { type: 'bmc.health', days: 366 },
    { type: 'boot.dhcp', days: 4000 },
  ]);
  await pruneEvents(store, now);
  expect(await left()).toEqual(['console.output 89', 'console.ended 4000', 'bmc.log 91', 'boot.dhcp 4000']);
});

test('however many there are, and without reading the others', async () => {
  const { store, left } = await storeWith([
    { type: 'console.output', days: 100, times: 1201 },
    { type: 'bmc.log', days: 1 },
  ]);
  await pruneEvents(store, now);
  expect(await left()).toEqual(['bmc.log 1']);
  if (dialect !== 'sqlite') return;
  const { rows } = await sql<{ detail: string }>`EXPLAIN QUERY PLAN SELECT seq FROM events
    WHERE type IN ('console.output', 'bmc.health', 'bmc.log', 'bmc.events') AND type = ${'bmc.log'} AND at < ${ago(0)}`.execute(
    store,
  );
  expect(rows.map(({ detail }) => detail).join()).toContain('events_that_go');
});
