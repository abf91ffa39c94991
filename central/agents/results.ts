import { isDeepStrictEqual } from 'node:util';
import { publicKeyFromJwk, verifyDocument } from '#base/jws.ts';
import type { WireError } from '#contract/errors.ts';
import { raiseAlarm } from '../alarms.ts';
import type { CentralContext } from '../context.ts';
import { recordEvent } from '../events.ts';
import { operationTopic, workflowTopic } from '../signals.ts';
import { now, type Queries, toJson } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import type { ReportedResult } from './reportSchema.ts';

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
    await believedResult(context, operation, reported),
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

/**
 * A ramdisk's result as the machine itself signed it, when it told one and every field arrived as signed. A site may say by its own
 * word that an operation failed or that nobody knows (it expired, the machine is gone), never that it was done.
 */
async function believedResult(
  context: CentralContext,
  operation: Row<'operations'>,
  reported: ReportedResult,
): Promise<OperationEnd> {
  if (operation.target !== 'ramdisk') return reported;
  const { jws, ...told } = reported;
  if (jws === undefined && told.outcome !== 'succeeded') return told;
  const changed = await changedField(context.store, operation, told, jws);
  if (changed === undefined) return told;
  const error = alteredError(operation, changed);
  await raiseAlarm(context.store, {
    alarmId: `result/${operation.operation_id}`,
    at: now(),
    siteId: operation.site_id,
    nodeId: operation.node_id,
    reason: 'result-signature',
    text: error.message,
  });
  return { outcome: 'failed', error, finishedAt: told.finishedAt };
}

/** The first field that is not as the machine signed it: `jws` when nothing is signed by its key; undefined when all is. */
async function changedField(
  store: Queries,
  operation: Row<'operations'>,
  told: Omit<ReportedResult, 'jws'>,
  jws: string | undefined,
): Promise<string | undefined> {
  const signed = await signedDocument(store, operation, jws);
  if (signed === undefined) return 'jws';
  const names = new Set([...Object.keys(signed), ...Object.keys(told)]);
  const value = (document: object, name: string) => (document as Record<string, unknown>)[name];
  return [...names].find((name) => !isDeepStrictEqual(value(signed, name), value(told, name)));
}

/** What the machine signed; undefined when the signature is not that machine's. */
async function signedDocument(
  store: Queries,
  operation: Row<'operations'>,
  jws: string | undefined,
): Promise<object | undefined> {
  const key = await signingKeyOf(store, operation.join_id);
  if (key === undefined || jws === undefined) return undefined;
  try {
    const document = await verifyDocument('railhead-result', jws, publicKeyFromJwk(key));
    return typeof document === 'object' && document !== null ? document : undefined;
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

function alteredError(operation: Row<'operations'>, path: string): WireError {
  const details = { reason: 'result-signature', path, operationId: operation.operation_id };
  const message = `the result of ${operation.action} is not as the ramdisk that was asked signed it (${path}): look at the site, then boot the machine again`;
  return { code: 'DRIVER_ERROR', message, details };
}
