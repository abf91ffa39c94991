import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { EfiLoader } from '#contract/efiLoader.ts';
import { type ErrorCode, errorStatus, RailheadError } from '#contract/errors.ts';
import type { Operation, OperationResult } from '#contract/operations.ts';
import { validate } from '#contract/validate.ts';
import type { Session } from '../store/sessions.ts';
import { checkCurrent } from './current.ts';
import type { MachineParts } from './parts.ts';
import { isSigned } from './signed.ts';

const ReportedError = Type.Object({
  code: Type.Enum(Object.keys(errorStatus) as ErrorCode[]),
  message: Type.String(),
  details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});

const Report = Type.Object({
  results: Type.Array(
    Type.Object({
      operationId: Type.String(),
      outcome: Type.Enum(['succeeded', 'failed', 'unknown']),
      result: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      error: Type.Optional(ReportedError),
      finishedAt: Type.String(),
      jws: Type.String(),
    }),
    { maxItems: 100 },
  ),
  progress: Type.Array(
    Type.Object({
      operationId: Type.String(),
      phase: Type.String(),
      doneBytes: Type.Optional(Type.Number()),
      totalBytes: Type.Optional(Type.Number()),
      at: Type.String(),
    }),
    { maxItems: 100 },
  ),
});

/**
 * `POST /v1/machine/report`: journals results that the machine has signed and passes progress on. When it returns, the results are
 * on stable storage. Telling a result twice is harmless.
 * @throws RailheadError FORBIDDEN for a result that is not signed by the machine's key, UNAUTHENTICATED when the session ends meanwhile
 */
export async function takeReport(body: unknown, session: Session, parts: MachineParts): Promise<void> {
  const report = validate(Report, body);
  parts.presence.seen(session.nodeId);
  for (const result of report.results) await checkSigned(result, session);
  checkCurrent(session, parts);
  for (const result of report.results) takeResult(result, session, parts);
  for (const progress of report.progress)
    if (ownOperation(progress.operationId, session, parts)) parts.progress.add(progress);
  if (report.results.length > 0) parts.news.wake();
}

function takeResult(result: OperationResult, session: Session, parts: MachineParts): void {
  const { state, log } = parts;
  const { operationId, outcome } = result;
  const operation = ownOperation(operationId, session, parts);
  if (operation === undefined) {
    log.debug({ operationId, nodeId: session.nodeId }, 'a result for no open operation of this machine');
    return;
  }
  state.atomically(() => {
    state.journal.finish(result);
    if (outcome === 'succeeded') settle(operation, result, parts);
  });
  log.info({ operationId, nodeId: session.nodeId, action: operation.action, outcome }, 'operation ended');
}

/** What a machine's success changes at the site. */
function settle({ action, nodeId }: Operation, { result }: OperationResult, { state }: MachineParts): void {
  if (action === 'deploy.image') state.loaders.put(nodeId, efiLoaderOf(result));
  // The disk is written and the machine restarts into it: its next network boot must not start the ramdisk again.
  if (action === 'boot.kexec') state.entries.remove(nodeId);
}

/** A loader with a name that no script may hold is none: the drives are tried in their order then. */
function efiLoaderOf(result: OperationResult['result']): EfiLoader | undefined {
  const loader = result?.efiLoader;
  return Value.Check(EfiLoader, loader) ? loader : undefined;
}

function ownOperation(operationId: string, session: Session, { state }: MachineParts) {
  const operation = state.journal.find(operationId)?.operation;
  return operation?.nodeId === session.nodeId && operation.target === 'ramdisk' ? operation : undefined;
}

async function checkSigned(
  result: Static<typeof Report>['results'][number],
  { signingKey }: Session,
): Promise<void> {
  const { jws, ...told } = result;
  if (await isSigned('railhead-result', told, jws, signingKey)) return;
  throw new RailheadError('FORBIDDEN', 'the result is not signed by the key that this machine joined with', {
    path: 'results',
    reason: 'signature',
    operationId: result.operationId,
  });
}
