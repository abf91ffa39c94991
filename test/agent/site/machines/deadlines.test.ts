import { expect, test } from 'vitest';
import { overdue } from '#agent/site/machines/deadlines.ts';

const deadline = Date.parse('2026-01-01T01:00:00.000Z');
const operation = {
  operationId: 'op_1',
  nodeId: 'node_1',
  target: 'ramdisk',
  action: 'deploy.image',
  input: {},
  expiresAt: new Date(deadline).toISOString(),
} as const;
const untaken = { operation, cancelled: false };
const taken = { operation, cancelled: false, startedAt: deadline - 60_000 };
const minute = 60_000;

test('an operation that no machine took waits until its deadline, then fails', () => {
  expect(overdue(untaken, deadline - 1, minute * 10)).toBeUndefined();
  expect(overdue(untaken, deadline, 0)).toMatchObject({
    outcome: 'failed',
    error: { details: { reason: 'expired' } },
  });
});

test('a cancelled operation that no machine took ends at once', () => {
  expect(overdue({ ...untaken, cancelled: true }, deadline - minute, 0)).toMatchObject({
    outcome: 'failed',
    error: { details: { reason: 'cancelled' } },
  });
});

test('an operation that a machine works on outlives its deadline while the machine speaks', () => {
  expect(overdue(taken, deadline + minute, 1000)).toBeUndefined();
});

test('a machine that is silent before the deadline is given time', () => {
  expect(overdue(taken, deadline - 1, minute * 10)).toBeUndefined();
});

test('past the deadline, with its machine silent, nobody knows what became of it', () => {
  expect(overdue(taken, deadline, minute)).toMatchObject({
    outcome: 'unknown',
    error: { details: { reason: 'machine-lost' } },
  });
});

test('a deadline that is no date does not keep an operation open for ever', () => {
  const garbled = { ...untaken, operation: { ...operation, expiresAt: 'soon' } };
  expect(overdue(garbled, 0, 0)).toMatchObject({ outcome: 'failed' });
});
