import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Log } from '#base/log.ts';
import type { CentralContext } from '#central/context.ts';
import { lastTold, watchClock } from '#central/retention/clock.ts';
import { checkKeep } from '#central/retention/keep.ts';
import { startRetention } from '#central/retention/start.ts';
import type { Store } from '#central/store/store.ts';
import { openBooks } from '../openBooks.ts';
import { testTimes } from '../times.ts';
import { addEvent, addSite, ago, now } from './oldBooks.ts';

const hour = 3_600_000;
const day = 24 * hour;
let store: Store;
let close: () => Promise<void>;

beforeEach(async () => {
  ({ store, close } = await openBooks());
  await addSite(store);
});
afterEach(() => close());

/** Looks each hour by a clock that is that far ahead of the true time. */
function looks(aheadMs: readonly number[], lastKnown: number | undefined = now) {
  const look = watchClock(lastKnown, { wall: now + (aheadMs[0] ?? 0), steady: 0 });
  return aheadMs.map((ahead, hours) => look({ wall: now + hours * hour + ahead, steady: hours * hour }));
}

test('a clock that goes as it should is trusted, and one that is set by some days, or back', () => {
  expect(looks([0, 0, 6 * day, 0, -400 * day, -400 * day])).toEqual(Array(6).fill('trusted'));
  expect(looks([0], now - 6 * day)).toEqual(['trusted']);
  expect(looks([0], now + 400 * day)).toEqual(['trusted']);
});

test('one that jumps ahead is doubted for a day, or until it is set right', () => {
  const ahead = Array(25).fill(365 * day);
  expect(looks([0, ...ahead])).toEqual(['trusted', 'jumped', ...Array(23).fill('doubted'), 'trusted']);
  expect(looks([0, 365 * day, 365 * day, 0])).toEqual(['trusted', 'jumped', 'doubted', 'trusted']);
});

test('so is one that is ahead at the start of what the books were told last', () => {
  expect(looks([0, 0], now - 8 * day)).toEqual(['jumped', 'doubted']);
});

test('the books were told something last by an event or by a contact of a site', async () => {
  expect(await lastTold(store)).toBeUndefined();
  await addEvent(store, 'one', 3);
  expect(await lastTold(store)).toBe(Date.parse(ago(3)));
  await store
    .updateTable('sites')
    .set({ seen_at: ago(2) })
    .execute();
  expect(await lastTold(store)).toBe(Date.parse(ago(2)));
});

test.each([
  ['nothing goes while the clock is doubted', ago(0), ['recent', 'old']],
  ['what is old goes while it is not', new Date().toISOString(), ['recent']],
])('%s', async (_, received_at, left) => {
  await addEvent(store, 'old', 900);
  await addEvent(store, 'recent', 0, { received_at });
  const said = Promise.withResolvers<void>();
  const log = {
    warn: () => said.resolve(),
    info: () => said.resolve(),
    error: said.reject,
  } as unknown as Log;
  const times = { ...testTimes, removeEveryMs: 10 };
  const retention = startRetention({ store, keep: checkKeep(), times, log } as CentralContext);
  await said.promise;
  await retention.close();
  const rows = await store.selectFrom('events').select('event_id').execute();
  expect(new Set(rows.map(({ event_id }) => event_id))).toEqual(new Set(left));
});
