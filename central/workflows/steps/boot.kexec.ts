import { nodeTopic } from '../../signals.ts';
import { ramdiskAddressee } from '../ramdisk.ts';
import { hasRejoined } from '../rejoin.ts';
import { abandoning, beginOperation, endedOperation, endTopics, operationError } from '../relay.ts';
import { type StepResult, type StepRun, waitFor } from '../stepRun.ts';

/**
 * Restarts the machine into the disk that was written. The ramdisk may be gone before its result is told, so what counts
 * is that the OS joins (`await: 'rejoin'`); only a plain failure ends the step before.
 */
export async function kexec(run: StepRun): Promise<StepResult> {
  if (await hasRejoined(run)) return {};
  const operationId = await beginOperation(run, 'boot.kexec', async () => ({}), await ramdiskAddressee(run));
  await abandoning(run, operationId, () =>
    waitFor(run, [...endTopics(operationId), nodeTopic(run.workflow.node_id)], () =>
      restarted(run, operationId),
    ),
  );
  return {};
}

async function restarted(run: StepRun, operationId: string): Promise<true | undefined> {
  if (await hasRejoined(run)) return true;
  const operation = await endedOperation(run, operationId);
  if (operation?.outcome === 'failed') throw operationError(operation);
  const isEnough = operation?.outcome === 'succeeded' && run.step.await !== 'rejoin';
  return isEnough ? true : undefined;
}
