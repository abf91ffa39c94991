import { expect, test } from 'vitest';
import { Room, type Taken } from '#cache/room.ts';
import { temporaryDirectory } from './testBench.ts';

const empty: Taken = {
  held: () => [],
  heldBytes: 0,
  unprovenBytes: 0,
  keep: () => false,
  quarantineBytes: async () => 0,
  emptyQuarantine: async () => {},
};

/** Of so many bytes; counts how often it was emptied. */
function quarantineOf(bytes: number) {
  const counted = { times: 0 };
  const emptyQuarantine = async () => void counted.times++;
  return { counted, taken: { ...empty, quarantineBytes: async () => bytes, emptyQuarantine } };
}

const noSpace = (limit: string) => ({ code: 'DRIVER_ERROR', details: { reason: 'no-space', limit } });

test('two that bring one image in have room of their own, and the end of one leaves the other its', async () => {
  const room = new Room(await temporaryDirectory(), 1000);
  const [stopped, begun, third] = [{ sizeBytes: 0 }, { sizeBytes: 0 }, { sizeBytes: 0 }];
  await room.promise(stopped, 400, empty);
  await room.promise(begun, 400, empty);
  room.release(stopped);
  await expect(room.promise(third, 700, empty)).rejects.toMatchObject(noSpace('quota'));
  expect(await room.promise(third, 600, empty)).toEqual([]);
});

test('a promise that grows counts once', async () => {
  const room = new Room(await temporaryDirectory(), 1000);
  const growing = { sizeBytes: 0 };
  await room.promise(growing, 600, empty);
  expect(await room.promise(growing, 1000, empty)).toEqual([]);
});

test('a quota that refuses does not empty the quarantine', async () => {
  const room = new Room(await temporaryDirectory(), 1000);
  const { counted, taken } = quarantineOf(2 ** 60);
  await expect(room.promise({ sizeBytes: 0 }, 2 ** 50, taken)).rejects.toMatchObject(noSpace('quota'));
  expect(counted.times).toBe(0);
});

test('a disk without room has the quarantine emptied before any image, where that can help', async () => {
  const room = new Room(await temporaryDirectory(), 2 ** 60);
  const helpful = quarantineOf(2 ** 60);
  await expect(room.promise({ sizeBytes: 0 }, 2 ** 50, helpful.taken)).rejects.toMatchObject(noSpace('disk'));
  expect(helpful.counted.times).toBe(1);
  const small = quarantineOf(1000);
  await expect(room.promise({ sizeBytes: 0 }, 2 ** 50, small.taken)).rejects.toMatchObject(noSpace('disk'));
  expect(small.counted.times).toBe(0);
});
