import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideNext } from '#central/workflows/decide.ts';
import type { StepRow } from '#central/workflows/records.ts';

type State = StepRow['state'];

function steps(main: State[], cleanup: State[] = [], onFailure = 'fail'): StepRow[] {
  const row = (phase: 'main' | 'cleanup') => (state: State, position: number) =>
    ({
      phase,
      state,
      position,
      attempt: 0,
      step: JSON.stringify({ use: 'power.getPower', onFailure }),
      result: state === 'skipped' ? '{"reason":"cancelled"}' : null,
    }) as StepRow;
  return [...main.map(row('main')), ...cleanup.map(row('cleanup'))];
}

test('runs the first step that has not run', () => {
  const rows = steps(['succeeded', 'pending', 'pending'], ['pending']);
  expect(decideNext(rows, false, {})).toEqual({ kind: 'run', step: rows[1] });
});

test('goes on with the step that ran, even when the workflow is cancelled', () => {
  const rows = steps(['succeeded', 'running', 'pending']);
  expect(decideNext(rows, true, {})).toEqual({ kind: 'run', step: rows[1] });
});

test('skips the rest of the main phase after a failure, then cleans up', () => {
  const rows = steps(['failed', 'pending'], ['pending']);
  expect(decideNext(rows, false, {})).toEqual({ kind: 'skip', steps: [rows[1]], reason: 'failed' });
  const skipped = steps(['failed', 'skipped'], ['pending']);
  expect(decideNext(skipped, false, {})).toEqual({ kind: 'run', step: skipped[2] });
  expect(decideNext(steps(['failed', 'skipped'], ['succeeded']), false, {})).toEqual({
    kind: 'finish',
    state: 'failed',
  });
});

test('goes on after a failure that a step may have', () => {
  const rows = steps(['failed', 'pending'], [], 'continue');
  expect(decideNext(rows, false, {})).toEqual({ kind: 'run', step: rows[1] });
  expect(decideNext(steps(['failed', 'succeeded'], [], 'continue'), false, {})).toEqual({
    kind: 'finish',
    state: 'succeeded',
  });
});

test('a cancel between steps skips the rest and still cleans up', () => {
  const rows = steps(['succeeded', 'pending'], ['pending']);
  expect(decideNext(rows, true, {})).toEqual({ kind: 'skip', steps: [rows[1]], reason: 'cancelled' });
  expect(decideNext(steps(['succeeded', 'skipped'], ['succeeded']), true, {})).toEqual({
    kind: 'finish',
    state: 'cancelled',
  });
});

test('a cancel that comes during the cleanup changes nothing', () => {
  expect(decideNext(steps(['succeeded'], ['succeeded']), true, {})).toEqual({
    kind: 'finish',
    state: 'succeeded',
  });
});

test('a failed cleanup does not change how the workflow ended', () => {
  expect(decideNext(steps(['succeeded'], ['failed']), false, {})).toEqual({
    kind: 'finish',
    state: 'succeeded',
  });
});

const anyState = fc.constantFrom<State>('pending', 'running', 'succeeded', 'failed', 'skipped', 'cancelled');

test('whatever the states, a workflow ends only when no step is left to run', () => {
  fc.assert(
    fc.property(fc.array(anyState), fc.array(anyState), fc.boolean(), (main, cleanup, cancelled) => {
      const rows = steps(main, cleanup);
      const left = rows.some(({ state }) => state === 'pending' || state === 'running');
      expect(decideNext(rows, cancelled, {}).kind === 'finish').toBe(!left);
    }),
  );
});

/** Steps as a plan has them: state, and what else its step says. */
function planned(...rows: [StepRow['state'], object?][]): StepRow[] {
  return rows.map(([state, more], position) => {
    const step = JSON.stringify({ use: 'power.getPower', onFailure: 'fail', ...more });
    return { phase: 'main', state, position, attempt: 0, step, result: null } as StepRow;
  });
}

test('a step whose when does not hold is skipped, and the workflow succeeds all the same', () => {
  const rows = planned(['pending', { when: 'nvswitch' }]);
  expect(decideNext(rows, false, {})).toEqual({ kind: 'skip', steps: rows, reason: 'when' });
  expect(decideNext(rows, false, { nvswitch: 'true' })).toEqual({ kind: 'run', step: rows[0] });
  const skipped = [{ ...rows[0], state: 'skipped', result: '{"reason":"when"}' } as StepRow];
  expect(decideNext(skipped, false, {})).toEqual({ kind: 'finish', state: 'succeeded' });
});

test('a when is looked at once: a retry runs whatever became of the labels', () => {
  const rows = planned(['pending', { when: 'nvswitch' }]).map((row) => ({ ...row, attempt: 1 }));
  expect(decideNext(rows, false, {})).toEqual({ kind: 'run', step: rows[0] });
});

test('a fallback runs when its step has failed, and the workflow goes on after it', () => {
  const fallback = { fallbackOf: 0 };
  const main = { onFailure: 'fallback' };
  const failed = planned(['failed', main], ['pending', fallback], ['pending']);
  expect(decideNext(failed, false, {})).toEqual({ kind: 'run', step: failed[1] });
  const stoodIn = planned(['failed', main], ['succeeded', fallback], ['pending']);
  expect(decideNext(stoodIn, false, {})).toEqual({ kind: 'run', step: stoodIn[2] });
  const ended = planned(['failed', main], ['succeeded', fallback], ['succeeded']);
  expect(decideNext(ended, false, {})).toEqual({ kind: 'finish', state: 'succeeded' });
});

test('a fallback is skipped when its step succeeded or was itself skipped', () => {
  const rows = planned(['succeeded', { onFailure: 'fallback' }], ['pending', { fallbackOf: 0 }]);
  expect(decideNext(rows, false, {})).toEqual({ kind: 'skip', steps: [rows[1]], reason: 'fallback' });
  const skipped = planned(['skipped', { onFailure: 'fallback' }], ['pending', { fallbackOf: 0 }]);
  expect(decideNext(skipped, false, {})).toMatchObject({ kind: 'skip', reason: 'fallback' });
});

test('a fallback that fails too ends the workflow, unless it may continue or has a fallback of its own', () => {
  const step = { onFailure: 'fallback' };
  const rows = planned(['failed', step], ['failed', { fallbackOf: 0 }], ['pending']);
  expect(decideNext(rows, false, {})).toEqual({ kind: 'skip', steps: [rows[2]], reason: 'failed' });
  const continued = planned(
    ['failed', step],
    ['failed', { fallbackOf: 0, onFailure: 'continue' }],
    ['pending'],
  );
  expect(decideNext(continued, false, {})).toEqual({ kind: 'run', step: continued[2] });
  const nested = planned(
    ['failed', step],
    ['failed', { fallbackOf: 0, ...step }],
    ['pending', { fallbackOf: 1 }],
  );
  expect(decideNext(nested, false, {})).toEqual({ kind: 'run', step: nested[2] });
});
