import type { AfterFailure } from '#contract/bmcPassword.ts';
import type { OperationEnd } from '../agents/operationEnds.ts';
import { acknowledgeAlarms, raiseAlarm } from '../alarms.ts';
import type { Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { forgetNext, promoteNext } from './next.ts';

type Ended = Pick<Row<'operations'>, 'operation_id' | 'site_id' | 'node_id' | 'action'>;

/**
 * What the end of an operation says about which of a node's two passwords its BMC has. It goes into the books with that end, whatever has
 * become of the workflow: nothing else is to be known of it. Returns whether the secrets of the node are others now.
 */
export async function settlePassword(store: Queries, operation: Ended, end: OperationEnd): Promise<boolean> {
  const found = foundPassword(operation.action, end);
  if (found === undefined) return false;
  if (found === 'unknown') await alarm(store, operation, end);
  else await acknowledgeAlarms(store, { nodeId: operation.node_id }, 'centre', alarmReason);
  if (found === 'next') return promoteNext(store, operation.node_id, end.result?.secretId);
  // A BMC that has the one before may still be at work on the next one, unless it has refused that.
  return (
    found === 'current' && operation.action === 'bmc.setPassword' && forgetNext(store, operation.node_id)
  );
}

const alarmReason = 'bmc-password-unknown';

/** Undefined where it says nothing: then both are kept. */
export function foundPassword(
  action: string,
  { outcome, result, error }: Pick<OperationEnd, 'outcome' | 'result' | 'error'>,
): AfterFailure | 'next' | undefined {
  if (action === 'bmc.readAccount' && outcome === 'succeeded')
    return result?.works === 'next' ? 'next' : 'current';
  if (action !== 'bmc.setPassword') return undefined;
  if (outcome === 'succeeded') return 'next';
  const { works } = error?.details ?? {};
  return works === 'current' || works === 'unknown' ? works : undefined;
}

async function alarm(store: Queries, operation: Ended, { error, finishedAt }: OperationEnd): Promise<void> {
  await raiseAlarm(store, {
    alarmId: `bmc-password/${operation.operation_id}`,
    at: finishedAt,
    siteId: operation.site_id,
    nodeId: operation.node_id,
    reason: alarmReason,
    text: error?.message ?? 'nobody knows which password the BMC has now: rotate it once more',
  });
}
