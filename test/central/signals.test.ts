import { expect, test } from 'vitest';
import { openSignals } from '#central/signals.ts';

test('who has no patience at all is told what there is', async () => {
  const { until } = openSignals();
  expect(await until(['topic'], async () => 'there', AbortSignal.abort())).toBe('there');
  let looks = 0;
  const nothing = async () => void looks++;
  expect(await until(['topic'], nothing, AbortSignal.abort())).toBeUndefined();
  expect(looks).toBe(1);
});

test('who waits looks again after each notice, until there is something or patience ends', async () => {
  const { until, notify } = openSignals();
  let looks = 0;
  const third = async () => {
    looks++;
    setImmediate(() => notify('topic'));
    return looks === 3 ? looks : undefined;
  };
  expect(await until(['topic'], third, new AbortController().signal)).toBe(3);
  const patience = new AbortController();
  const waiting = until(['topic'], async () => undefined, patience.signal);
  patience.abort();
  expect(await waiting).toBeUndefined();
});
