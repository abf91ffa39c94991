import { expect, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import { WrittenMessages } from '#bootserver/dhcp/writtenMessages.ts';

test('a flood of strangers is written of in part, and said so once a minute; named machines are written of beside it', () => {
  let now = 0;
  const told: unknown[] = [];
  const log = { ...silentLog(), warn: (details: unknown) => told.push(details) };
  const written = new WrittenMessages(log as never, () => now);
  const flood = Array.from({ length: 59_000 }, (_, at) => {
    now = at;
    return written.take(`1/${at}`, false);
  });
  expect(flood.filter(Boolean).length).toBeLessThan(8000 + 5901);
  expect(told).toHaveLength(1);
  expect(written.take('1/named', true)).toBe(true);
  now += 60_000;
  written.take('1/named', true);
  expect(told).toHaveLength(2);
});

test('who speaks in the name of a named machine does not fill the log', () => {
  const written = new WrittenMessages(silentLog(), () => 0);
  const all = Array.from({ length: 10_000 }, () => written.take('1/named', true));
  expect(all.filter(Boolean)).toHaveLength(200);
  expect(written.take('1/named too', true)).toBe(true);
});
