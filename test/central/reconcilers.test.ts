import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import type { CentralContext } from '#central/context.ts';
import { makeCentre, onHost } from '#central/host.ts';
import { queueReconcile, type Reconciler, startReconcilers, wakeReconcilers } from '#central/reconcilers.ts';
import { openSignals } from '#central/signals.ts';
import type { Store } from '#central/store/store.ts';
import { centreDirectory } from './directory.ts';

let directory: string;
beforeAll(async () => {
  directory = await centreDirectory();
  await makeCentre(directory);
});
afterAll(() => rm(directory, { recursive: true }));

/** Runs `work` with the store, and the reconciler that it starts. */
function withStore(work: (store: Store, start: (reconciler: Reconciler) => CentralContext) => Promise<void>) {
  return onHost(directory, async ({ store }) => {
    const running: { close(): void | Promise<void> }[] = [];
    const start = (reconciler: Reconciler) => {
      const context = { store, signals: openSignals(), log: silentLog() } as CentralContext;
      running.push(startReconcilers(context, { test: reconciler }));
      return context;
    };
    try {
      await work(store, start);
    } finally {
      for (const one of running) await one.close();
    }
  });
}

const queue = (store: Store) => store.selectFrom('reconciles').select('key').orderBy('key').execute();

test('what was queued before the centre started is worked off, once for each key', async () => {
  await withStore(async (store, start) => {
    for (const key of ['a', 'b', 'a']) await queueReconcile(store, 'test', key);
    const ran: string[] = [];
    start(async (_, key) => void ran.push(key));
    await expect.poll(() => queue(store)).toEqual([]);
    expect(ran.toSorted()).toEqual(['a', 'b']);
  });
});

test('what is queued again while it runs is run once more', async () => {
  await withStore(async (store, start) => {
    let runs = 0;
    const context = start(async () => {
      if (++runs === 1) await queueReconcile(store, 'test', 'again');
    });
    await queueReconcile(store, 'test', 'again');
    wakeReconcilers(context.signals);
    await expect.poll(() => runs).toBe(2);
    await expect.poll(() => queue(store)).toEqual([]);
  });
});

test('what fails stays queued and does not keep the others', async () => {
  await withStore(async (store, start) => {
    await queueReconcile(store, 'test', 'bad');
    await queueReconcile(store, 'test', 'good');
    start(async (_, key) => {
      if (key === 'bad') throw new Error('no');
    });
    await expect.poll(() => queue(store)).toEqual([{ key: 'bad' }]);
    await store.deleteFrom('reconciles').execute();
  });
});
