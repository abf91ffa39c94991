import { createPrivateKey, createPublicKey } from 'node:crypto';
import { abortable } from '#base/abortable.ts';
import { signDocument } from '#base/jws.ts';
import type { Log } from '#base/log.ts';
import { RailheadError, toWireError } from '#contract/errors.ts';
import { spkiPin } from '#contract/join.ts';
import type { OperationProgress, OperationResult } from '#contract/operations.ts';
import { type Expectation, refusal, verifyOperation } from '#ramdisk/operations/verify.ts';
import type { KeptIdentity } from '../../join/keptIdentity.ts';
import { type ActionContext, act } from './actions.ts';
import type { Journal } from './journal.ts';

export interface RunnerParts {
  kept: Pick<KeptIdentity, 'current' | 'signingKeys'>;
  journal: Journal;
  root: string;
  /** Called with what is to be told while an operation runs. */
  progress(progress: OperationProgress): void;
  /** Called when a result waits to be told. */
  ended(): void;
  /** Aborts when the agent ends: what runs then is left as it is in the journal. */
  signal: AbortSignal;
  log: Log;
}

/** Carries out what the journal has, one operation at a time, in the order of their arrival. */
export interface Runner {
  /** To be called when the journal has more. */
  take(): void;
  /** Abandons those of these that wait or run. */
  cancel(operationIds: readonly string[]): void;
  /** Resolves when nothing runs any more. */
  idle(): Promise<void>;
}

export function startRunner(parts: RunnerParts): Runner {
  const { journal, log } = parts;
  const cancels = new Map<string, AbortController>();
  const logged = (error: unknown) => log.error({ err: error }, 'an operation cannot be written down');
  let queue = endInterrupted(parts).catch(logged);
  const enqueue = (ordered: Ordered) => {
    const cancel = new AbortController();
    cancels.set(ordered.operationId, cancel);
    queue = queue
      .then(() => carryOut(ordered, parts, cancel.signal))
      .catch(logged)
      .finally(() => cancels.delete(ordered.operationId));
  };
  const take = () => {
    for (const ordered of journal.waiting()) if (!cancels.has(ordered.operationId)) enqueue(ordered);
  };
  take();
  return {
    take,
    cancel: (ids) => {
      for (const id of ids) cancels.get(id)?.abort(cancellation(id));
    },
    idle: () => queue,
  };
}

interface Ordered {
  operationId: string;
  jws: string;
}

/** What it did before it was cut off nobody knows, and a test that took the machine down is not to do so for ever: the workflow decides. */
async function endInterrupted(parts: RunnerParts): Promise<void> {
  for (const operationId of parts.journal.interrupted()) {
    const message = 'the agent, or the machine, ended while the operation ran';
    const error = new RailheadError('INVALID_STATE', message, { reason: 'interrupted', operationId });
    await end(operationId, { outcome: 'unknown', error: toWireError(error) }, parts);
  }
}

async function carryOut(ordered: Ordered, parts: RunnerParts, cancelled: AbortSignal): Promise<void> {
  if (parts.signal.aborted) return;
  const ended = await attempt(ordered, parts, cancelled);
  // An agent that was told to stop has cut it off itself: the next one finds it begun.
  if (!parts.signal.aborted) await end(ordered.operationId, ended, parts);
}

type Ended = Pick<OperationResult, 'outcome' | 'result' | 'error'>;

/** Verifies and runs one operation; every failure becomes a result. */
async function attempt(ordered: Ordered, parts: RunnerParts, cancelled: AbortSignal): Promise<Ended> {
  const { journal, log } = parts;
  const { operationId } = ordered;
  try {
    cancelled.throwIfAborted();
    const operation = await verifyOperation(ordered.jws, expectation(operationId, parts));
    if (operation.expiresAt <= Date.now()) throw refusal('expired', 'its time to begin has passed');
    await journal.begin(operationId, operation.expiresAt);
    log.info({ operationId, action: operation.action }, 'operation begins');
    const result = await before(operation.expiresAt, (over) => {
      const signal = AbortSignal.any([parts.signal, cancelled, over]);
      return abortable(act(operation, contextOf(operationId, parts, signal)), signal);
    });
    log.info({ operationId }, 'operation succeeded');
    return { outcome: 'succeeded', result };
  } catch (error) {
    if (!parts.signal.aborted) log.warn({ err: error, operationId }, 'operation failed');
    return { outcome: 'failed', error: toWireError(error) };
  }
}

/** Runs `work`, whose signal aborts at `expiresAt` (milliseconds): nobody waits for its end any more. */
async function before<Result>(
  expiresAt: number,
  work: (over: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const over = new AbortController();
  const left = Math.min(expiresAt - Date.now(), 2 ** 31 - 1);
  const timer = setTimeout(() => over.abort(refusal('expired', 'its time is over')), left);
  try {
    return await work(over.signal);
  } finally {
    clearTimeout(timer);
  }
}

function expectation(operationId: string, { kept }: RunnerParts): Expectation<'node'> {
  const { nodeId, privateKey } = kept.current;
  const machine = spkiPin(createPublicKey(privateKey));
  return { target: 'node', signingKeys: kept.signingKeys(), nodeId, machine, operationId };
}

function contextOf(operationId: string, parts: RunnerParts, signal: AbortSignal): ActionContext {
  const progress = (phase: string) => parts.progress({ operationId, phase, at: new Date().toISOString() });
  return { root: parts.root, progress, signal };
}

/** Signs how an operation ended by the key that this node joined by, and keeps it until the centre has taken it. */
async function end(operationId: string, ended: Ended, { kept, journal, ended: tell }: RunnerParts) {
  const result: OperationResult = { operationId, ...ended, finishedAt: new Date().toISOString() };
  const jws = await signDocument('railhead-result', result, createPrivateKey(kept.current.privateKey));
  try {
    await journal.end({ ...result, jws });
  } finally {
    tell();
  }
}

function cancellation(operationId: string): RailheadError {
  return new RailheadError('INVALID_STATE', 'cancelled by the centre', { reason: 'cancelled', operationId });
}
