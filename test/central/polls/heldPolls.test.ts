import { EventEmitter } from 'node:events';
import type { FastifyReply } from 'fastify';
import { expect, test } from 'vitest';
import { createHeldPolls, type Patience } from '#central/agents/heldPolls.ts';

function setUp() {
  const stop = new AbortController();
  const connection = new EventEmitter();
  const reply = { raw: connection } as unknown as FastifyReply;
  const polls = createHeldPolls(stop.signal);
  /** Waits as a poll does, and says how its patience ended. */
  const held = (waitMs: number) => polls.hold(reply, waitMs, untilOver);
  return { stop, connection, held };
}

function untilOver({ signal, isGone }: Patience): Promise<'gone' | 'time'> {
  return new Promise((resolve) => {
    const end = () => resolve(isGone() ? 'gone' : 'time');
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
  });
}

test('a poll waits for its time and no longer', async () => {
  expect(await setUp().held(5)).toBe('time');
});

test('a poll ends when its agent hangs up, and nothing of it is left', async () => {
  const { connection, held } = setUp();
  const poll = held(60_000);
  connection.emit('close');
  expect(await poll).toBe('gone');
  expect(connection.listenerCount('close')).toBe(0);
});

test('all polls end when the centre stops, and later ones do not wait', async () => {
  const { stop, held } = setUp();
  const polls = [held(60_000), held(60_000)];
  stop.abort();
  expect(await Promise.all(polls)).toEqual(['gone', 'gone']);
  expect(await held(60_000)).toBe('gone');
});
