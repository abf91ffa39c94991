import { Value } from 'typebox/value';
import { hasCode, RailheadError } from '#contract/errors.ts';
import type { StepInput } from '#contract/steps.ts';
import { isReadBackClean, WipeResult } from '#contract/wipe.ts';
import { forgetDeployed } from '../../images/deployments.ts';
import { underClaim } from '../claims.ts';
import { ramdiskAddressee } from '../ramdisk.ts';
import { relay } from '../relay.ts';
import type { StepResult, StepRun } from '../stepRun.ts';

/**
 * Has the ramdisk wipe the machine's disks. The result is `attested` when the machine signed it and every disk read back as wiped;
 * a wipe that is not attested is no failure of the step, and it does not release a node.
 */
export async function wipeDisks(run: StepRun, input: StepInput<'disk.wipe'>): Promise<StepResult> {
  const ramdisk = await ramdiskAddressee(run);
  try {
    const result = await relay(run, 'disk.wipe', async () => input, ramdisk);
    const attested = attestation(input.mode, result);
    if (attested.attested && input.mode !== 'none')
      await underClaim(run.central.store, run.workflow, (queries) =>
        forgetDeployed(queries, run.workflow.node_id),
      );
    return { ...result, ...attested };
  } catch (error) {
    if (!hasCode(error, 'DRIVER_ERROR') || error.details.reason !== 'result-signature') throw error;
    return { mode: input.mode, attested: false, reason: 'signature' };
  }
}

/**
 * What a signed result attests. To wipe nothing is what mode `none` asks for; in the other modes a machine without disks proves
 * nothing: its ramdisk may lack the driver of the controller that they are behind.
 */
function attestation(
  mode: StepInput<'disk.wipe'>['mode'],
  result: StepResult,
): { attested: boolean; reason?: string } {
  if (!Value.Check(WipeResult, result))
    throw new RailheadError('DRIVER_ERROR', 'the ramdisk does not say which disks it wiped', {
      reason: 'result-form',
    });
  if (result.mode !== mode) return { attested: false, reason: 'mode' };
  const isClean = mode === 'none' || isReadBackClean(result);
  return isClean ? { attested: true } : { attested: false, reason: 'read-back' };
}
