import { expect, test } from 'vitest';
import { openEvents } from '#agent/site/store/events.ts';
import { gatherEvents } from '#agent/site/store/gatheredEvents.ts';
import { migrations } from '#agent/site/store/schema.ts';
import { openSqlite } from '#base/sqlite.ts';

const mac = '02:00:00:00:00:01';
const step = { type: 'boot.dhcp', text: 'OFFER', mac, bootId: 'boot_1' } as const;

function laboratory() {
  const database = openSqlite(':memory:', migrations);
  const inner = openEvents(database, Date.now);
  return { database, inner, events: gatherEvents(inner, database) };
}

test('steps of a boot are written together, and whoever asks sees them at once', async () => {
  const { inner, events } = laboratory();
  events.add(step);
  events.add({ ...step, text: 'ACK' });
  expect(inner.timeline(mac, 9)).toEqual([]);
  expect(events.timeline(mac, 9)).toMatchObject([{ text: 'OFFER' }, { text: 'ACK' }]);
  events.add(step);
  await expect.poll(() => inner.timeline(mac, 9).length).toBe(3);
});

test('every other event is kept at once, behind the steps before it', () => {
  const { inner, events } = laboratory();
  events.add(step);
  events.add({ type: 'machine.discovered', mac, bootId: 'boot_1' });
  expect(inner.timeline(mac, 9).map(({ type }) => type)).toEqual(['boot.dhcp', 'machine.discovered']);
});

test('what cannot be kept is told', async () => {
  const { database, events } = laboratory();
  const lost: number[] = [];
  events.onLost((_, some) => lost.push(some.length));
  database.pragma('query_only = ON');
  events.add(step);
  events.add(step);
  await expect.poll(() => lost).toEqual([2]);
});
