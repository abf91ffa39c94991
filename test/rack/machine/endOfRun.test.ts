import { expect, test } from 'vitest';
import { endOfRun } from '#rack/machine/endOfRun.ts';

test.each([
  ['guest-reset', 'restart'],
  ['host-qmp-system-reset', 'restart'],
  ['guest-shutdown', 'off'],
  ['guest-panic', 'off'],
  ['host-qmp-quit', 'off'],
  ['host-signal', 'off'],
  [undefined, 'off'],
] as const)('after %s the machine is to %s', (reason, end) => {
  expect(endOfRun(reason)).toBe(end);
});
