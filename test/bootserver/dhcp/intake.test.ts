import { expect, onTestFinished, test } from 'vitest';
import { type Dropped, Intake } from '#bootserver/dhcp/intake.ts';

/** An intake whose messages take `costMs` of a clock that stands still otherwise. */
function laboratory(costMs = 0) {
  const served: string[] = [];
  const dropped: Dropped[] = [];
  let now = 0;
  const intake = new Intake<string>({
    isKnown: (client) => client.startsWith('known'),
    serve: (message) => {
      now += costMs;
      served.push(message);
    },
    onDropped: (some) => dropped.push(some),
    now: () => now,
  });
  onTestFinished(() => intake.close());
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return { intake, served, dropped, turn };
}

test('a known client is served before all strangers that wait', async () => {
  const { intake, served, turn } = laboratory();
  intake.take('stranger', 'one');
  intake.take('known', 'two');
  expect(served).toEqual(['two']);
  await turn();
  expect(served).toEqual(['two', 'one']);
});

test('a million strangers cost a bounded queue; the first in it are served, and known clients all along', async () => {
  const { intake, served, dropped, turn } = laboratory();
  for (let at = 0; at < 1_000_000; at++) intake.take(`${at}`, 'stranger');
  for (let at = 0; at < 20; at++) intake.take(`known ${at}`, 'known');
  expect(served).toEqual(Array(20).fill('known'));
  await turn();
  expect(served.length).toBe(20 + 2048);
  expect(dropped).toEqual([{ perClient: 0, strangers: 1 }]);
});

test('one stranger alone is answered no more often than a client needs', async () => {
  const { intake, served, dropped, turn } = laboratory();
  for (let at = 0; at < 1000; at++) intake.take('stranger', 'again');
  intake.take('known', 'other');
  await turn();
  expect(served.length).toBe(30 + 1);
  expect(dropped).toEqual([{ perClient: 1, strangers: 0 }]);
});

test('a known client in whose name somebody floods waits with the strangers, and is heard', async () => {
  const { intake, served, turn } = laboratory();
  for (let at = 0; at < 30; at++) intake.take('known', 'forged');
  intake.take('known', 'its own');
  intake.take('known too', 'other');
  expect(served.slice(30)).toEqual(['other']);
  await turn();
  expect(served.slice(31)).toEqual(['its own']);
});

test('all else has its turn between slices of strangers', async () => {
  const { intake, served, turn } = laboratory(1);
  for (let at = 0; at < 100; at++) intake.take(`${at}`, 'stranger');
  await turn();
  expect(served.length).toBe(4);
  await expect.poll(() => served.length).toBe(100);
});
