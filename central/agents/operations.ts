import { signDocument } from '#base/jws.ts';
import { newId } from '#contract/ids.ts';
import { machineThumbprint, type OkpJwk } from '#contract/join.ts';
import {
  type Operation,
  type OperationAction,
  type OperationInput,
  operations,
  type SealedSecret,
} from '#contract/operations.ts';
import type { CentralContext } from '../context.ts';
import { operationTopic, siteTopic } from '../signals.ts';
import { now, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';

/** An operation to hand to a site, and the step attempt that it carries out. */
export interface NewOperation<Action extends OperationAction> {
  siteId: string;
  nodeId: string;
  workflowId: string;
  stepId: string;
  attempt: number;
  /** Which of several operations of this attempt; empty for the only one. */
  part: string;
  action: Action;
  input: OperationInput<Action>;
  expiresAt: string;
  /** The ramdisk's join that it is addressed to, and whose key must sign the result. */
  joinId?: string;
  /** What `input` refers to, sealed to that ramdisk. */
  secrets?: readonly SealedSecret[];
  /** What goes into the books together with it; what it throws keeps the operation from being queued. */
  noting?: (queries: Queries) => Promise<void>;
}

/** The operation of one step attempt, when it was handed out already: after a crash it is the same one. */
export function findOperation(
  store: Queries,
  stepId: string,
  attempt: number,
  part = '',
): Promise<Row<'operations'> | undefined> {
  return store
    .selectFrom('operations')
    .selectAll()
    .where('step_id', '=', stepId)
    .where('attempt', '=', attempt)
    .where('part', '=', part)
    .executeTakeFirst();
}

/** Puts an operation into its site's queue. What goes to a machine is signed, so that a site can relay it but not invent it. */
export async function queueOperation<Action extends OperationAction>(
  { store, keys, sealer, signals }: CentralContext,
  request: NewOperation<Action>,
): Promise<string> {
  const {
    siteId,
    nodeId,
    workflowId,
    stepId,
    attempt,
    part,
    action,
    input,
    expiresAt,
    secrets = [],
  } = request;
  const { target } = operations[action];
  const machine = await addressee(store, request.joinId);
  const plain: Operation = {
    operationId: newId('op'),
    nodeId,
    ...(machine === undefined ? {} : { machine }),
    target,
    action,
    input: input as Operation['input'],
    expiresAt,
  };
  const jws =
    target === 'ramdisk' ? await signDocument('railhead-operation', plain, keys.signing) : undefined;
  const signed = jws === undefined ? plain : { ...plain, jws };
  const operation = secrets.length === 0 ? signed : { ...signed, secrets };
  const place = { site_id: siteId, node_id: nodeId, workflow_id: workflowId, step_id: stepId, attempt, part };
  const row = {
    operation_id: operation.operationId,
    ...place,
    target,
    action,
    sealed: sealer.seal(JSON.stringify(operation)),
    join_id: request.joinId ?? null,
    created_at: now(),
    expires_at: expiresAt,
  };
  await store.transaction().execute(async (queries) => {
    await request.noting?.(queries);
    await queries.insertInto('operations').values(row).execute();
  });
  signals.notify(siteTopic(siteId));
  return operation.operationId;
}

/** What tells the ramdisk that an operation is for from every other; undefined for what is for no ramdisk. */
async function addressee(store: Queries, joinId: string | undefined): Promise<string | undefined> {
  if (joinId === undefined) return undefined;
  const { signing_key, sealing_key } = await store
    .selectFrom('node_joins')
    .select(['signing_key', 'sealing_key'])
    .where('join_id', '=', joinId)
    .executeTakeFirstOrThrow();
  const key = (text: string | null) => JSON.parse(text ?? '{"x":""}') as OkpJwk;
  return machineThumbprint({ signingKey: key(signing_key), sealingKey: key(sealing_key) });
}

/** What a site has not journaled yet and may still begin, oldest first. */
export async function waitingOperations(context: CentralContext, siteId: string): Promise<Operation[]> {
  const rows = await context.store
    .selectFrom('operations')
    .select('sealed')
    .where('site_id', '=', siteId)
    .where('outcome', 'is', null)
    .where('taken_at', 'is', null)
    .where('cancel_requested_at', 'is', null)
    .where('expires_at', '>', now())
    .orderBy('operation_id')
    .execute();
  return rows.map((row) => JSON.parse(context.sealer.open(row.sealed)) as Operation);
}

/** Notes that a site has journaled these. */
export async function markTaken(store: Queries, siteId: string, taken: readonly string[]): Promise<void> {
  if (taken.length === 0) return;
  await store
    .updateTable('operations')
    .set({ taken_at: now() })
    .where('site_id', '=', siteId)
    .where('operation_id', 'in', taken)
    .where('taken_at', 'is', null)
    .execute();
}

/** What a site is asked to abandon and has not ended yet; `fresh` when it was not told of one of them before. */
export async function cancelledOperations(
  store: Queries,
  siteId: string,
): Promise<{ operationIds: string[]; fresh: boolean }> {
  const rows = await store
    .selectFrom('operations')
    .select(['operation_id', 'cancel_told_at'])
    .where('site_id', '=', siteId)
    .where('outcome', 'is', null)
    .where('cancel_requested_at', 'is not', null)
    .where('expires_at', '>', now())
    .execute();
  return {
    operationIds: rows.map((row) => row.operation_id),
    fresh: rows.some((row) => row.cancel_told_at === null),
  };
}

export async function markCancelTold(store: Queries, operationIds: readonly string[]): Promise<void> {
  if (operationIds.length === 0) return;
  await store
    .updateTable('operations')
    .set({ cancel_told_at: now() })
    .where('operation_id', 'in', operationIds)
    .execute();
}

/** Asks the site to abandon an operation where it can still be stopped. */
export async function requestCancel({ store, signals }: CentralContext, operationId: string): Promise<void> {
  const row = await store
    .updateTable('operations')
    .set({ cancel_requested_at: now() })
    .where('operation_id', '=', operationId)
    .where('outcome', 'is', null)
    .where('cancel_requested_at', 'is', null)
    .returning('site_id')
    .executeTakeFirst();
  if (row !== undefined) signals.notify(siteTopic(row.site_id), operationTopic(operationId));
}
