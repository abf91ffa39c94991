import { isDeepStrictEqual } from 'node:util';
import { verifyDocument } from '#base/jws.ts';
import type { WireError } from '#contract/errors.ts';
import { raiseAlarm } from '../alarms.ts';
import type { CentralContext } from '../context.ts';
import { now, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { resultKey } from './addressees.ts';
import { type AgentIdentity, identityName } from './identity.ts';
import { endOperation, type OperationEnd } from './operationEnds.ts';
import { handedTo } from './operations.ts';
import type { ReportedResult } from './reportSchema.ts';

/**
 * Takes the result of one operation, once; a second delivery changes nothing. That a machine succeeded is believed only
 * when the machine signed it: a site can say that an operation failed, not that it was done.
 */
export async function recordResult(
  context: CentralContext,
  agent: AgentIdentity,
  reported: ReportedResult,
): Promise<void> {
  const operation = await context.store
    .selectFrom('operations')
    .selectAll()
    .where('operation_id', '=', reported.operationId)
    .where(handedTo(agent))
    .executeTakeFirst();
  if (operation === undefined || operation.outcome !== null) {
    context.log.debug({ ...agent, operationId: reported.operationId }, 'a result that nobody waits for');
    return;
  }
  const end = await believedResult(context, operation, reported);
  await endOperation(context, operation, end, identityName(agent));
}

/**
 * A machine's result as the machine itself signed it, when it told one and every field arrived as signed. A site may say by its own
 * word that an operation failed or that nobody knows (it expired, the machine is gone), never that it was done.
 */
async function believedResult(
  context: CentralContext,
  operation: Row<'operations'>,
  reported: ReportedResult,
): Promise<OperationEnd> {
  if (operation.target === 'site') return reported;
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
  const key = await resultKey(store, operation);
  if (key === undefined || jws === undefined) return undefined;
  try {
    const document = await verifyDocument('railhead-result', jws, key);
    return typeof document === 'object' && document !== null ? document : undefined;
  } catch {
    return undefined;
  }
}

function alteredError(operation: Row<'operations'>, path: string): WireError {
  const details = { reason: 'result-signature', path, operationId: operation.operation_id };
  const cure =
    operation.target === 'ramdisk' ? 'look at the site, then boot the machine again' : 'let it join again';
  const message = `the result of ${operation.action} is not as the ${operation.target} that was asked signed it (${path}): ${cure}`;
  return { code: 'DRIVER_ERROR', message, details };
}
