import { expect, test } from 'vitest';
import { Slots } from '#base/slots.ts';

const gate = () => Promise.withResolvers<void>();

test('work waits for its turn, in order', async () => {
  const slots = new Slots(1);
  const [first, second] = [gate(), gate()];
  const order: string[] = [];
  const note = (name: string, until: Promise<void>) => async () => {
    order.push(name);
    await until;
  };
  const all = [
    slots.run(note('a', first.promise)),
    slots.run(note('b', second.promise)),
    slots.run(note('c', Promise.resolve())),
  ];
  await Promise.resolve();
  expect(order).toEqual(['a']);
  first.resolve();
  await all[0];
  await Promise.resolve();
  expect(order).toEqual(['a', 'b']);
  second.resolve();
  await Promise.all(all);
  expect(order).toEqual(['a', 'b', 'c']);
});

test('work that fails frees its slot', async () => {
  const slots = new Slots(1);
  await expect(
    slots.run(async () => {
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  expect(await slots.run(async () => 1)).toBe(1);
});

test('a signal takes waiting work out of the queue and leaves the slot to the next', async () => {
  const slots = new Slots(1);
  const { promise, resolve } = gate();
  const running = slots.run(() => promise);
  const controller = new AbortController();
  const waiting = slots.run(async () => 'never', controller.signal);
  const next = slots.run(async () => 'next');
  controller.abort(new Error('gave up'));
  await expect(waiting).rejects.toThrow('gave up');
  resolve();
  await running;
  expect(await next).toBe('next');
});
