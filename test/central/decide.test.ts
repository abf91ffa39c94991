import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideNext } from '#central/workflows/decide.ts';
import type { StepRow } from '#central/workflows/records.ts';

type State = StepRow['state'];

function steps(main: State[], cleanup: State[] = [], onFailure = 'fail'): StepRow[] {
  const row = (phase: 'main' | 'cleanup') => (state: State, position: number) =>
    ({ phase, state, position, step: JSON.stringify({ use: 'power.getPower', onFailure }) }) as StepRow;
  return [...main.map(row('main')), ...cleanup.map(row('cleanup'))];
}

test('runs the first step that has not run', () => {
  const rows = steps(['succeeded', 'pending', 'pending'], ['pending']);
  expect(decideNext(rows, false)).toEqual({ kind: 'run', step: rows[1] });
});

test('goes on with the step that ran, even when the workflow is cancelled', () => {
  const rows = steps(['succeeded', 'running', 'pending']);
  expect(decideNext(rows, true)).toEqual({ kind: 'run', step: rows[1] });
});

test('skips the rest of the main phase after a failure, then cleans up', () => {
  const rows = steps(['failed', 'pending'], ['pending']);
  expect(decideNext(rows, false)).toEqual({ kind: 'skip', steps: [rows[1]] });
  const skipped = steps(['failed', 'skipped'], ['pending']);
  expect(decideNext(skipped, false)).toEqual({ kind: 'run', step: skipped[2] });
  expect(decideNext(steps(['failed', 'skipped'], ['succeeded']), false)).toEqual({
    kind: 'finish',
    state: 'failed',
  });
});

test('goes on after a failure that a step may have', () => {
  const rows = steps(['failed', 'pending'], [], 'continue');
  expect(decideNext(rows, false)).toEqual({ kind: 'run', step: rows[1] });
  expect(decideNext(steps(['failed', 'succeeded'], [], 'continue'), false)).toEqual({
    kind: 'finish',
    state: 'succeeded',
  });
});

test('a cancel between steps skips the rest and still cleans up', () => {
  const rows = steps(['succeeded', 'pending'], ['pending']);
  expect(decideNext(rows, true)).toEqual({ kind: 'skip', steps: [rows[1]] });
  expect(decideNext(steps(['succeeded', 'skipped'], ['succeeded']), true)).toEqual({
    kind: 'finish',
    state: 'cancelled',
  });
});

test('a cancel that comes during the cleanup changes nothing', () => {
  expect(decideNext(steps(['succeeded'], ['succeeded']), true)).toEqual({
    kind: 'finish',
    state: 'succeeded',
  });
});

test('a failed cleanup does not change how the workflow ended', () => {
  expect(decideNext(steps(['succeeded'], ['failed']), false)).toEqual({ kind: 'finish', state: 'succeeded' });
});

const anyState = fc.constantFrom<State>('pending', 'running', 'succeeded', 'failed', 'skipped', 'cancelled');

test('whatever the states, a workflow ends only when no step is left to run', () => {
  fc.assert(
    fc.property(fc.array(anyState), fc.array(anyState), fc.boolean(), (main, cleanup, cancelled) => {
      const rows = steps(main, cleanup);
      const left = rows.some(({ state }) => state === 'pending' || state === 'running');
      expect(decideNext(rows, cancelled).kind === 'finish').toBe(!left);
    }),
  );
});
