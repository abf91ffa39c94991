import type { KeyObject } from 'node:crypto';
import { abortable } from '#base/abortable.ts';
import { backoffMs } from '#base/backoff.ts';
import { systemClock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { ImageCache } from '#cache/imageCache.ts';
import { RailheadError } from '#contract/errors.ts';
import { operations } from '#contract/operations.ts';
import { validate } from '#contract/validate.ts';
import type { MediaPlaces } from '../mediaPlaces.ts';
import type { Secrets } from '../secrets/secrets.ts';
import type { OpenOperation } from '../store/journal.ts';
import { explained } from '../store/noSpace.ts';
import { requireNode } from '../store/spec.ts';
import type { SiteState } from '../store/state.ts';
import type { ActionContext, SiteAction, SiteActionName } from './action.ts';
import type { Bmcs } from './bmcs.ts';
import { actions, isSiteAction } from './index.ts';
import { failed, succeeded, unknown } from './outcome.ts';
import { createQueues } from './queues.ts';

export interface ExecutorParts {
  siteId: string;
  signingKeys(): readonly KeyObject[];
  state: SiteState;
  cache: Pick<ImageCache, 'ready'>;
  mediaPlaces: MediaPlaces;
  bmcs: Bmcs;
  secrets: Pick<Secrets, 'text' | 'settleFormer'>;
  /** Called after each result that was journaled. */
  onResult(): void;
  log: Log;
}

/** Carries out the site's own operations from the journal: one at a time per node, nodes side by side. */
export interface Executor {
  /** Takes up what the journal holds and is not being carried out yet. */
  wake(): void;
  cancel(operationIds: readonly string[]): void;
  /** Interrupts what runs; it stays open in the journal and is settled at the next start. */
  close(): Promise<void>;
}

export function startExecutor(parts: ExecutorParts): Executor {
  const queues = createQueues();
  const running = new Map<string, AbortController>();
  const stop = new AbortController();

  function take(open: OpenOperation): void {
    const { operationId, nodeId } = open.operation;
    if (running.has(operationId)) return;
    const control = new AbortController();
    running.set(operationId, control);
    queues
      .run(nodeId, () => carryOut(operationId, parts, control.signal, stop.signal))
      .catch((error: unknown) =>
        parts.log.warn({ err: error, operationId }, 'an operation was left as it is'),
      )
      .finally(() => running.delete(operationId));
  }

  const executor: Executor = {
    wake: () => {
      if (!stop.signal.aborted) parts.state.journal.open('site').forEach(take);
    },
    cancel: (operationIds) => {
      for (const id of operationIds) running.get(id)?.abort(cancelled(id));
    },
    close: async () => {
      stop.abort();
      for (const control of running.values()) control.abort();
      await queues.idle();
    },
  };
  executor.wake();
  return executor;
}

function cancelled(operationId: string): RailheadError {
  return new RailheadError('INVALID_STATE', 'cancelled by the centre', { reason: 'cancelled', operationId });
}

/**
 * Brings one operation of the journal to its end. `stop` interrupts it without a result: what was begun may happen all the same,
 * and the next start looks.
 */
async function carryOut(
  operationId: string,
  parts: ExecutorParts,
  cancel: AbortSignal,
  stop: AbortSignal,
): Promise<void> {
  const { journal } = parts.state;
  const open = journal.find(operationId);
  if (open === undefined || stop.aborted) return;
  const { nodeId, action } = open.operation;
  const log = parts.log.child({ operationId, nodeId, action });
  const result = await abortable(attempt(open, parts, cancel), stop).catch((error: unknown) => {
    if (stop.aborted) return undefined;
    log.warn({ err: error }, 'operation failed');
    return failed(operationId, cancel.aborted ? cancel.reason : explained(error));
  });
  if (result === undefined) return;
  await written(() => journal.finish(result), log, stop);
  log.info({ outcome: result.outcome, result: result.result }, 'operation ended');
  parts.onResult();
}

const rewriteLimits = { firstMs: 500, maxMs: 15_000 };

/** What became of an act must not be lost because the disk has no room for it just now. Rejects only when `stop` aborts. */
async function written(write: () => void, log: Log, stop: AbortSignal): Promise<void> {
  for (let failures = 1; ; failures++) {
    try {
      write();
      return;
    } catch (error) {
      log[failures === 1 ? 'error' : 'debug']({ err: explained(error) }, 'a result is not written down yet');
      await systemClock.sleep(backoffMs(failures, rewriteLimits), stop);
    }
  }
}

async function attempt(open: OpenOperation, parts: ExecutorParts, signal: AbortSignal) {
  const { operation, startedAt } = open;
  const { operationId, action, input } = operation;
  if (!isSiteAction(action))
    throw new RailheadError('UNSUPPORTED', `this site does not know ${action}: install a newer agent`, {
      action,
    });
  const context = contextOf(open, parts, signal);
  // The compiler cannot tie the name to its input inside a generic call; the schema just has.
  const executed = actions[action] as SiteAction<SiteActionName>;
  const checked = validate(operations[action].input, input) as never;
  if (startedAt !== undefined) return resume(executed, checked, context, operationId, startedAt);
  refuseLate(open);
  parts.state.journal.start(operationId, Date.now());
  return succeeded(operationId, await executed.run(checked, context));
}

/** An act was begun by a process that is no more: look first, and never do it twice without saying so. */
async function resume(
  action: SiteAction<SiteActionName>,
  input: never,
  context: ActionContext,
  operationId: string,
  startedAt: number,
) {
  const settlement = await action.settle(input, context, startedAt);
  if (settlement.kind === 'done') return succeeded(operationId, { ...settlement.result, settled: true });
  if (settlement.kind === 'repeat')
    return succeeded(operationId, { ...(await action.run(input, context)), repeated: true });
  const details = { reason: 'interrupted', ...settlement.found };
  const message =
    'the agent stopped in the middle of it, and what was found does not tell whether it was done';
  return unknown(operationId, new RailheadError('INVALID_STATE', message, details));
}

function refuseLate({ operation, cancelled: isCancelled }: OpenOperation): void {
  if (isCancelled) throw cancelled(operation.operationId);
  if (Date.parse(operation.expiresAt) > Date.now()) return;
  const details = { reason: 'expired', expiresAt: operation.expiresAt };
  throw new RailheadError('INVALID_STATE', `not begun: it expired at ${operation.expiresAt}`, details);
}

/** Why an act failed is to reach the centre before the centre gives up by itself, in milliseconds. */
const tellMs = 3_000;

function contextOf({ operation }: OpenOperation, parts: ExecutorParts, signal: AbortSignal): ActionContext {
  const { siteId, signingKeys, state, cache, mediaPlaces, bmcs, secrets } = parts;
  const { nodeId } = operation;
  const node = state.spec.node(nodeId);
  const deadline = Date.parse(operation.expiresAt) - tellMs;
  return {
    siteId,
    nodeId,
    ...(node === undefined ? {} : { node }),
    deadline,
    signal,
    signingKeys: signingKeys(),
    state,
    cache,
    mediaPlaces,
    secretText: (secret) => secrets.text(secret),
    settleFormer: (known, account) => secrets.settleFormer(known, account),
    withBmc: async (work, as = node) => {
      return bmcs.use(as ?? requireNode(state.spec, nodeId), (bmc) => {
        signal.throwIfAborted();
        return work(bmc, { deadline, signal });
      });
    },
  };
}
