import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { fromNow } from '#central/store/store.ts';
import { timeoutSignal, until } from '#central/workflows/timeouts.ts';
import { durationMs } from '#contract/durations.ts';

const dayMs = 24 * 3_600_000;
beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('a deadline beyond what a timer holds is kept to', async () => {
  const reason = new Error('too late');
  const signal = timeoutSignal(fromNow(60 * dayMs), reason);
  await vi.advanceTimersByTimeAsync(60 * dayMs - 1);
  expect(signal.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(signal.reason).toBe(reason);
});

test('a wait beyond what a timer holds ends at its time, or when it is stopped', async () => {
  const stop = new AbortController();
  const ends: string[] = [];
  void until(fromNow(60 * dayMs), stop.signal).then(() => ends.push('time'));
  void until(fromNow(90 * dayMs), stop.signal).catch(() => ends.push('stopped'));
  await vi.advanceTimersByTimeAsync(59 * dayMs);
  expect(ends).toEqual([]);
  await vi.advanceTimersByTimeAsync(dayMs);
  expect(ends).toEqual(['time']);
  stop.abort();
  await vi.advanceTimersByTimeAsync(0);
  expect(ends).toEqual(['time', 'stopped']);
  expect(vi.getTimerCount()).toBe(0);
});

test('what is past is at once', async () => {
  expect(timeoutSignal(fromNow(-1), new Error('late')).aborted).toBe(true);
  await until(fromNow(-1), new AbortController().signal);
  await until(null, new AbortController().signal);
});

test('the longest durations are dates whose text sorts after now, and so is anything longer', () => {
  for (const longest of ['99999h', '9999999m', '999999999s', '999999999999ms'])
    expect(fromNow(durationMs(longest)) > fromNow(0)).toBe(true);
  expect(fromNow(Number.MAX_VALUE)).toBe('9999-12-31T23:59:59.999Z');
});
