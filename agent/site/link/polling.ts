import { ignore } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import type { ImageCache } from '#cache/imageCache.ts';
import { type AgentPollAnswer, protocolVersion } from '#contract/agentWire.ts';
import type { SiteSpec } from '#contract/nodeSpec.ts';
import type { Operation } from '#contract/operations.ts';
import type { Executor } from '../operations/executor.ts';
import type { SiteState } from '../store/state.ts';
import type { Wake } from '../wake.ts';
import type { CentreClient } from './centreClient.ts';

export interface PollingParts {
  siteId: string;
  client: Pick<CentreClient, 'poll'>;
  state: Pick<SiteState, 'journal' | 'spec'>;
  cache: Pick<ImageCache, 'desire' | 'ready'>;
  executor: Pick<Executor, 'wake' | 'cancel'>;
  /** Wakes the machines' long polls. */
  machines: Wake;
  /** Wakes the report loop. */
  news: Wake;
  signal: AbortSignal;
  log: Log;
}

const waitSeconds = 30;

/**
 * Takes desired state and operations from the centre. Returns one call of the loop. An operation is acknowledged in the
 * next poll, after the journal has it: the centre repeats it until then.
 */
export function polling(parts: PollingParts): () => Promise<void> {
  const { client, state, signal } = parts;
  let taken: string[] = [];
  return async () => {
    const observedGeneration = state.spec.generation();
    const answer = await client.poll(
      { protocol: protocolVersion, observedGeneration, waitSeconds, taken },
      signal,
    );
    applyAnswer(answer, parts);
    taken = answer.operations.map((operation) => operation.operationId);
  };
}

function applyAnswer(answer: AgentPollAnswer, parts: PollingParts): void {
  const { state, executor, machines, news } = parts;
  if (answer.spec !== undefined) applySpec(answer.spec, parts);
  state.journal.receive(answer.operations);
  fetchAtOnce(answer.operations, parts.cache);
  executor.cancel(state.journal.cancel(answer.cancelled));
  if (answer.operations.length + answer.cancelled.length === 0) return;
  executor.wake();
  machines.wake();
  news.wake();
}

/** A deploy does not wait for the pause after a failed pull: the machine that asks for the image finds a new try on its way. */
function fetchAtOnce(operations: readonly Operation[], cache: Pick<ImageCache, 'ready'>): void {
  for (const { action, input } of operations)
    if (action === 'deploy.image' && typeof input.digest === 'string')
      cache.ready(input.digest).catch(ignore);
}

function applySpec(spec: SiteSpec, { siteId, state, cache, log }: PollingParts): void {
  if (spec.siteId !== siteId) {
    log.error(
      { found: spec.siteId, expected: siteId },
      "the centre sent another site's desired state; it is not taken",
    );
    return;
  }
  state.spec.replace(spec);
  cache.desire(spec.cacheImages);
  log.info(
    { generation: spec.generation, nodes: spec.nodes.length, images: spec.cacheImages.length },
    'desired state observed',
  );
}
