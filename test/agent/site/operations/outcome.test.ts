import { expect, test } from 'vitest';
import { failed, succeeded } from '#agent/site/operations/outcome.ts';
import { RailheadError } from '#contract/errors.ts';

test('an error of any length is one that the centre takes', () => {
  const error = new RailheadError('DRIVER_ERROR', `the BMC said: ${'y'.repeat(10_000)}`, {
    reason: 'refused',
  });
  const { error: told } = failed('op_1', error);
  expect(told).toMatchObject({ code: 'DRIVER_ERROR', details: { reason: 'refused' } });
  expect(told?.message.length).toBeLessThanOrEqual(4096);
});

test('what came of an operation and is too long for a report is said to be', () => {
  expect(succeeded('op_1', { notes: ['x'.repeat(2 ** 20)] })).toMatchObject({
    outcome: 'failed',
    error: { code: 'DRIVER_ERROR', message: expect.stringContaining('longer than 1 MiB') },
  });
  expect(succeeded('op_1', { notes: ['x'] })).toMatchObject({
    outcome: 'succeeded',
    result: { notes: ['x'] },
  });
});
