import { Value } from 'typebox/value';
import { DcgmResult, everyTestPassed } from '#contract/dcgm.ts';
import { RailheadError } from '#contract/errors.ts';
import type { StepInput } from '#contract/steps.ts';
import { machineAgent } from '../machineAgent.ts';
import { relay } from '../relay.ts';
import type { StepResult, StepRun } from '../stepRun.ts';

/**
 * Has the machine test its NVIDIA GPUs. An unsigned result does not count (`relay` refuses it).
 * @throws RailheadError DRIVER_ERROR unless the machine signed the result and every test passed
 */
export async function diagnose(run: StepRun, input: StepInput<'diag.dcgm'>): Promise<StepResult> {
  const result = await relay(run, 'diag.dcgm', async () => input, await machineAgent(run));
  if (!Value.Check(DcgmResult, result))
    throw failure('result-form', 'the machine does not say which tests it ran');
  if (everyTestPassed(result)) return result;
  const failed = result.tests.filter(({ status }) => status !== 'passed');
  if (failed.length === 0) throw failure('no-tests', 'no GPU test was run, so none has passed');
  throw failure('tests-failed', `${failed.length} of ${result.tests.length} GPU tests did not pass`, {
    failed,
  });
}

function failure(reason: string, message: string, facts: object = {}): RailheadError {
  return new RailheadError('DRIVER_ERROR', message, { reason, ...facts });
}
