import { backoffMs } from '#base/backoff.ts';
import { steadyClock } from '#base/clock.ts';
import { signDocument } from '#base/jws.ts';
import { RailheadError, toWireError } from '#contract/errors.ts';
import type { OperationResult } from '#contract/operations.ts';
import type { Say } from '../console.ts';
import { type MachineKeys, thumbprintOf } from '../join/keys.ts';
import type { Trust } from '../join/trust.ts';
import type { Session } from '../site/session.ts';
import type { StepContext, StepOutcome } from '../steps/index.ts';
import type { Journal } from './journal.ts';
import { startProgress } from './progress.ts';
import { refusal, type VerifiedOperation, verifyOperation } from './verify.ts';

export interface RunnerParts {
  session: Session;
  trust: Trust;
  keys: MachineKeys;
  journal: Journal;
  say: Say;
  signal: AbortSignal;
  runStep(operation: VerifiedOperation, context: StepContext): Promise<StepOutcome>;
}

/** A step gives up so long before its operation ends that the reason still arrives. */
const timeToTellMs = 5000;

const idlePause = { firstMs: 250, maxMs: 5000 };

type Relayed = { operationId: string; jws: string };

/**
 * Takes operations from the site and carries them out, one at a time, in the order of their arrival, until `signal` aborts.
 * Rejects then, or when the journal cannot be kept; no step runs any more when it does.
 */
export async function runOperations(parts: RunnerParts): Promise<never> {
  const { session, journal, signal } = parts;
  const cancels = new Map<string, AbortController>();
  const failure = Promise.withResolvers<never>();
  let queue = reportEnded(parts).catch(failure.reject);
  const enqueue = (relayed: Relayed) => {
    const cancel = new AbortController();
    cancels.set(relayed.operationId, cancel);
    queue = queue
      .then(() => carryOut(relayed, parts, AbortSignal.any([signal, cancel.signal])))
      .catch(failure.reject)
      .finally(() => cancels.delete(relayed.operationId));
  };
  try {
    for (let idleAnswers = 0; ; ) {
      const asked = steadyClock.now();
      const known = [...new Set([...journal.ids(), ...cancels.keys()])];
      const { operations, cancelled } = await Promise.race([session.poll(known), failure.promise]);
      for (const id of cancelled) cancels.get(id)?.abort(cancellation(id));
      const fresh = operations.filter(({ operationId: id }) => !journal.has(id) && !cancels.has(id));
      fresh.forEach(enqueue);
      // A site that answers at once with nothing new must not be asked in a tight loop.
      idleAnswers = fresh.length === 0 && steadyClock.now() - asked < 1000 ? idleAnswers + 1 : 0;
      if (idleAnswers > 0) await steadyClock.sleep(backoffMs(idleAnswers, idlePause), signal);
    }
  } finally {
    await queue;
  }
}

/** Reports what an agent before this one ended and could not report. */
async function reportEnded({ session, journal }: RunnerParts): Promise<void> {
  for (const result of journal.unreported()) {
    await session.report({ results: [result], progress: [] });
    await journal.reported(result.operationId);
  }
}

async function carryOut(relayed: Relayed, parts: RunnerParts, signal: AbortSignal): Promise<void> {
  const { session, journal, keys } = parts;
  const { operationId } = relayed;
  const { afterwards, ...ended } = await attempt(relayed, parts, signal);
  const result: OperationResult = { operationId, ...ended, finishedAt: new Date().toISOString() };
  const signed = { ...result, jws: await signDocument('railhead-result', result, keys.signing) };
  await journal.end(signed);
  await session.report({ results: [signed], progress: [] });
  await journal.reported(operationId);
  await afterwards?.();
}

type Ended = Pick<OperationResult, 'outcome' | 'result' | 'error'>;

/** Verifies and runs one operation; every failure becomes a result. */
async function attempt(
  relayed: Relayed,
  parts: RunnerParts,
  signal: AbortSignal,
): Promise<Ended & { afterwards?: StepOutcome['afterwards'] }> {
  const pump = startProgress(relayed.operationId, (progress) =>
    parts.session.reportOnce({ results: [], progress: [progress] }),
  );
  try {
    const operation = await accept(relayed, parts);
    parts.say(`${operation.action} begins`);
    const outcome = await parts.runStep(operation, contextOf(operation, parts, pump.report, signal));
    parts.say(`${operation.action} succeeded`);
    return { outcome: 'succeeded', result: outcome.result, afterwards: outcome.afterwards };
  } catch (error) {
    const failure = signal.aborted && signal.reason instanceof RailheadError ? signal.reason : error;
    parts.say(`operation ${relayed.operationId} failed: ${(failure as Error).message}`);
    if (!(failure instanceof RailheadError)) parts.say(String((failure as Error).stack));
    return { outcome: 'failed', error: toWireError(failure) };
  } finally {
    pump.stop();
  }
}

/** Burns the id. An operation that was interrupted by the agent's death runs again from its start, even past its expiry. */
async function accept(
  relayed: Relayed,
  { trust, session, journal, keys }: RunnerParts,
): Promise<VerifiedOperation> {
  const { operationId, jws } = relayed;
  const again = journal.interrupted(operationId);
  await journal.begin(operationId);
  const { nodeId } = session.joined;
  const machine = thumbprintOf(keys);
  const expected = {
    target: 'ramdisk',
    signingKeys: trust.signingKeys,
    nodeId,
    machine,
    operationId,
  } as const;
  const operation = await verifyOperation(jws, expected);
  if (!again && operation.expiresAt <= Date.now()) throw refusal('expired', 'its time to begin has passed');
  return operation;
}

function contextOf(
  operation: VerifiedOperation,
  { session, trust, keys, say }: RunnerParts,
  progress: StepContext['progress'],
  signal: AbortSignal,
): StepContext {
  const { nodeId } = session.joined;
  const { operationId, expiresAt } = operation;
  const deadline = steadyClock.now() + (expiresAt - Date.now()) - timeToTellMs;
  const { sealing } = keys;
  const { ca, centre } = trust;
  const { secret, image: siteImage } = session;
  return { operationId, nodeId, sealing, secret, siteImage, ca, centre, deadline, progress, say, signal };
}

function cancellation(operationId: string): RailheadError {
  return new RailheadError('INVALID_STATE', 'the operation was cancelled while it ran', {
    reason: 'cancelled',
    operationId,
  });
}
