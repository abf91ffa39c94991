import { expect, test } from 'vitest';
import { progressLine } from '#rack/demo/progress.ts';

test('a machine that has begun nothing has an empty bar', () => {
  const line = progressLine({ name: 'm1', phase: 'queued', stepsDone: 0, steps: 8, seconds: 0 });
  expect(line).toBe(`m1     ${'░'.repeat(30)}   0 s  queued`);
});

test('bytes of the running step move the bar within its share', () => {
  const machine = { name: 'm1', phase: 'deploy.deploy', stepsDone: 1, steps: 2, seconds: 31.4 };
  const line = progressLine({ ...machine, doneBytes: 20_000_000, totalBytes: 40_000_000 });
  expect(line).toBe(`m1     ${'█'.repeat(23)}${'░'.repeat(7)}  31 s  deploy.deploy 20.0 of 40.0 MB`);
});

test('more bytes than were announced do not overflow the bar', () => {
  const line = progressLine({
    name: 'm',
    phase: 'p',
    stepsDone: 1,
    steps: 1,
    doneBytes: 9,
    totalBytes: 3,
    seconds: 1,
  });
  expect(line).toContain('█'.repeat(30));
  expect(line).not.toContain('░');
});
