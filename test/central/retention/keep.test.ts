import { expect, test } from 'vitest';
import { checkKeep, cutoff, describeKeep, type KeepDays } from '#central/retention/keep.ts';

const forever = Number.POSITIVE_INFINITY;

test('events are kept 90 days, consoles 30, workflows a year, and the record of changes for good', () => {
  expect(checkKeep()).toEqual({ events: 90, console: 30, workflows: 365, audit: forever });
  expect(describeKeep(checkKeep())).toEqual({
    events: '90d',
    console: '30d',
    workflows: '365d',
    audit: 'forever',
  });
});

test('a console is kept no longer than events, and a workflow no shorter, unless that is asked for', () => {
  expect(checkKeep({ events: 7 })).toMatchObject({ console: 7, workflows: 365 });
  expect(checkKeep({ events: 400 })).toMatchObject({ console: 30, workflows: 400 });
  expect(checkKeep({ events: forever })).toMatchObject({ console: 30, workflows: forever });
  expect(checkKeep({ events: 7, console: 60 })).toMatchObject({ console: 60 });
});

test.each([
  [{ events: 0 }, 'keep.events'],
  [{ audit: 1.5 }, 'keep.audit'],
  [{ console: -1 }, 'keep.console'],
  [{ console: Number.NaN }, 'keep.console'],
  [{ event: 90 }, 'keep.event'],
  [{ events: 90, workflows: 30 }, 'keep.workflows'],
])('%o is refused by its name', (keep, path) => {
  expect(() => checkKeep(keep as Partial<KeepDays>)).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', details: { path } }),
  );
});

test('what is kept for good, or for longer than there were times, has no time before which it goes', () => {
  const now = Date.parse('2026-06-01T00:00:00.000Z');
  expect(cutoff(90, now)).toBe('2026-03-03T00:00:00.000Z');
  expect(cutoff(forever, now)).toBeUndefined();
  expect(cutoff(99_999, now)).toBeUndefined();
});
