import { expect, test } from 'vitest';
import { Printed } from '#agent/site/console/printed.ts';

test('what comes faster than it is looked at is left out, and that is told', () => {
  const printed = new Printed(0);
  const piece = Buffer.from(`${'x'.repeat(63)}\n`.repeat(1024));
  for (let at = 0; at < 8; at++) printed.hear(piece, 1000);
  printed.hear(Buffer.from('the end\n'), 2500);
  const told = printed.due(2500, true).join('\n');
  const left = [...told.matchAll(/\[(\d+) lines left out/g)].map(([, count]) => Number(count));
  const kept = told.split('\n').filter((line) => line.startsWith('x')).length;
  expect(left.reduce((sum, count) => sum + count, 0) + kept).toBe(8 * 1024);
  expect(told.endsWith('the end')).toBe(true);
});
