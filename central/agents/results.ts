import { publicKeyFromJwk, verifyDocument } from '#base/jws.ts';
import type { WireError } from '#contract/errors.ts';
import type { CentralContext } from '../context.ts';
import { recordEvent } from '../events.ts';
import { operationTopic, workflowTopic } from '../signals.ts';
import { type Queries, toJson } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { ReportedResult, wellFormed } from './reportSchema.ts';

/**
 * Takes the result of one operation, once; a second delivery changes nothing. That a machine succeeded is believed only
 * when the machine signed it: a site can say that an operation failed, not that it was done.
 */
export async function recordResult(
  context: CentralContext,
  siteId: string,
  reported: ReportedResult,
): Promise<void> {
  const operation = await context.store
    .selectFrom('operations')
    .selectAll()
    .where('operation_id', '=', reported.operationId)
    .where('site_id', '=', siteId)
    .executeTakeFirst();
  if (operation === undefined || operation.outcome !== null) {
    context.log.debug({ siteId, operationId: reported.operationId }, 'a result that nobody waits for');
    return;
  }
  await endOperation(
    context,
    operation,
    await believedResult(context.store, operation, reported),
    `site ${siteId}`,
  );
}

/** How an operation ended, for good. */
export interface OperationEnd {
  outcome: 'succeeded' | 'failed' | 'unknown';
  result?: Record<string, unknown> | undefined;
  error?: WireError | undefined;
  finishedAt: string;
}

export async function endOperation(
  { store, signals }: CentralContext,
  operation: Pick<
    Row<'operations'>,
    'operation_id' | 'workflow_id' | 'step_id' | 'node_id' | 'action' | 'target'
  >,
  end: OperationEnd,
  cause: string,
): Promise<void> {
  await store.transaction().execute(async (queries) => {
    const { numUpdatedRows } = await queries
      .updateTable('operations')
      .set({
        outcome: end.outcome,
        result: toJson(end.result),
        error: toJson(end.error),
        finished_at: end.finishedAt,
      })
      .where('operation_id', '=', operation.operation_id)
      .where('outcome', 'is', null)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) return;
    await recordEvent(queries, {
      type: `operation.${end.outcome}`,
      text: end.error === undefined ? operation.action : `${operation.action}: ${end.error.message}`,
      cause,
      // A bare machine's clock may be years off: its events stand in the timeline where they arrived.
      ...(operation.target === 'site' && { at: end.finishedAt }),
      nodeId: operation.node_id,
      workflowId: operation.workflow_id,
      stepId: operation.step_id,
      data: { operationId: operation.operation_id, result: end.result, error: end.error },
    });
  });
  signals.notify(operationTopic(operation.operation_id), workflowTopic(operation.workflow_id));
}

async function believedResult(
  store: Queries,
  operation: Row<'operations'>,
  reported: ReportedResult,
): Promise<OperationEnd> {
  if (operation.target !== 'ramdisk' || reported.outcome !== 'succeeded') return reported;
  const signed = await signedResult(store, operation, reported.jws);
  return signed ?? { outcome: 'failed', error: unsignedError(operation), finishedAt: reported.finishedAt };
}

/** The result as the machine itself signed it; undefined when the signature is not that machine's, or not for this operation. */
async function signedResult(
  store: Queries,
  operation: Row<'operations'>,
  jws: string | undefined,
): Promise<ReportedResult | undefined> {
  const key = await signingKeyOf(store, operation.join_id);
  if (key === undefined || jws === undefined) return undefined;
  try {
    const document = await verifyDocument('railhead-result', jws, publicKeyFromJwk(key));
    const [result] = wellFormed(ReportedResult, [document]).good;
    return result?.operationId === operation.operation_id ? result : undefined;
  } catch {
    return undefined;
  }
}

async function signingKeyOf(store: Queries, joinId: string | null): Promise<object | undefined> {
  if (joinId === null) return undefined;
  const join = await store
    .selectFrom('node_joins')
    .select('signing_key')
    .where('join_id', '=', joinId)
    .executeTakeFirst();
  return join?.signing_key == null ? undefined : (JSON.parse(join.signing_key) as object);
}

function unsignedError(operation: Row<'operations'>): WireError {
  return {
    code: 'DRIVER_ERROR',
    message: `the result of ${operation.action} is not signed by the ramdisk that was asked: boot the machine again`,
    details: { reason: 'result-signature', operationId: operation.operation_id },
  };
}
