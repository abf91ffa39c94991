import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Transfers } from '#bootserver/http/transfers.ts';

const patienceMs = 1000;
let transfers: Transfers;
let sent: string[];

beforeEach(() => {
  vi.useFakeTimers();
  transfers = new Transfers(4, patienceMs);
  sent = [];
});
afterEach(() => void vi.useRealTimers());

/** A body that is sent until its response is closed. */
function send(client: string, name: string): { close(): void; ended: Promise<void> } {
  const response = new EventEmitter() as ServerResponse;
  Object.assign(response, { socket: { remoteAddress: client }, destroy: () => response.emit('close') });
  const work = () => {
    sent.push(name);
    return new Promise<void>((resolve) => response.once('close', () => resolve()));
  };
  const ended = transfers.run(response, work);
  ended.catch(() => {});
  return { close: () => void response.emit('close'), ended };
}

/** Lets what is due happen. */
const settled = (ms = 0) => vi.advanceTimersByTimeAsync(ms);

test('a free place goes to the client that is sent the least, though others came before it', async () => {
  const first = send('10.0.0.1', 'a1');
  for (const name of ['a2', 'a3', 'a4', 'a5', 'a6']) send('10.0.0.1', name);
  send('10.0.0.2', 'b1');
  await settled();
  first.close();
  await settled();
  expect(sent).toEqual(['a1', 'a2', 'a3', 'a4', 'b1']);
});

test('slow readers with many connections lose one to a machine that has none and waits', async () => {
  for (const name of ['a1', 'a2', 'a3']) send('10.0.0.1', name);
  send('10.0.0.2', 'b1');
  send('10.0.0.3', 'c1');
  await settled(patienceMs - 1);
  expect(sent).not.toContain('c1');
  await settled(2);
  expect(sent).toEqual(['a1', 'a2', 'a3', 'b1', 'c1']);
});

test('a storm in which every machine is sent one thing takes nobody a place', async () => {
  const machines = [1, 2, 3, 4].map((number) => send(`10.0.0.${number}`, `m${number}`));
  send('10.0.0.5', 'm5');
  await settled(60 * patienceMs);
  expect(sent).toEqual(['m1', 'm2', 'm3', 'm4']);
  machines[0]?.close();
  await settled();
  expect(sent.at(-1)).toBe('m5');
});

test('who leaves while it waits is forgotten, and the next one has its turn', async () => {
  const machines = [1, 2, 3, 4].map((number) => send(`10.0.0.${number}`, `m${number}`));
  const fifth = send('10.0.0.5', 'm5');
  send('10.0.0.6', 'm6');
  await settled();
  fifth.close();
  await expect(fifth.ended).rejects.toThrow('the client left before its turn');
  machines[1]?.close();
  await settled();
  expect(sent).toEqual(['m1', 'm2', 'm3', 'm4', 'm6']);
});
