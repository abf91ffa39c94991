import { expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { Boots } from '#bootserver/boots.ts';
import { bytesAnswer } from '#bootserver/http/answer.ts';
import { notedImage } from '#bootserver/http/notedImage.ts';
import type { BootEvent } from '#bootserver/machine.ts';

const mac = '52:54:00:77:00:41';
const path = `/images/sha256/${'ab'.repeat(32)}`;

/** What the timeline tells of requests for these ranges, one after the other. */
async function told(ranges: readonly (string | undefined)[]): Promise<string[]> {
  const events: BootEvent[] = [];
  const boots = new Boots((event) => events.push(event), systemClock);
  const parts = { boots, holders: { macAt: () => mac } };
  for (const range of ranges) {
    const request = { method: 'GET' as const, path, query: new URLSearchParams(), from: '10.77.0.100' };
    const answer = Promise.resolve(bytesAnswer(Buffer.from('x'), 'application/octet-stream'));
    await notedImage({ ...request, ...(range !== undefined && { range }) }, parts, answer);
  }
  return events.map(({ text }) => text);
}

test('an image that is read in pieces is told once, wherever the reading begins', async () => {
  expect(await told(['bytes=32768-34815', 'bytes=34816-36863', 'bytes=47104-49151'])).toEqual([path]);
});

test('a download that begins anew is told anew', async () => {
  expect(await told(['bytes=0-99', 'bytes=100-199', 'bytes=0-99'])).toEqual([path, path]);
  expect(await told([undefined, undefined])).toEqual([path, path]);
});

test('a machine that makes up paths does not grow what is remembered of its boot', () => {
  const boots = new Boots(() => {}, systemClock);
  const first = Array.from({ length: 100 }, (_, at) => boots.isFirstPiece(mac, `/images/${at}`));
  expect(first.filter(Boolean).length).toBeLessThan(20);
});
