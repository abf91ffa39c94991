import type { KeyObject } from 'node:crypto';
import { ignore } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import type { ImageCache } from '#cache/imageCache.ts';
import { type AgentPollAnswer, protocolVersion } from '#contract/agentWire.ts';
import type { NodeSpec } from '#contract/nodeSpec.ts';
import type { Operation } from '#contract/operations.ts';
import type { TrustExchange } from '../../join/trustExchange.ts';
import { keepPins } from '../cache/pins.ts';
import type { Executor } from '../operations/executor.ts';
import type { Secrets } from '../secrets/secrets.ts';
import type { SiteState } from '../store/state.ts';
import type { Wake } from '../wake.ts';
import { convergeEntries } from './bootEntries.ts';
import type { CentreClient } from './centreClient.ts';

export interface PollingParts {
  siteId: string;
  client: Pick<CentreClient, 'poll'>;
  state: Pick<SiteState, 'journal' | 'spec' | 'entries' | 'cachePins' | 'cacheCatalog'>;
  /** The centre's, which boot entries are signed by. */
  signingKeys(): readonly KeyObject[];
  trust: TrustExchange;
  cache: Pick<ImageCache, 'desire' | 'keep' | 'ready'>;
  executor: Pick<Executor, 'wake' | 'cancel'>;
  secrets: Pick<Secrets, 'desire'>;
  /** Told of the operations that the journal has just taken in. */
  onOperations(operations: readonly Operation[]): void;
  /** Told of each operation that an operator has confirmed at the centre, as often as the centre tells. */
  confirm(operationId: string): void;
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
      { protocol: protocolVersion, observedGeneration, waitSeconds, taken, ...parts.trust.known() },
      signal,
    );
    await parts.trust.take(answer);
    await applyAnswer(answer, parts);
    taken = answer.operations.map((operation) => operation.operationId);
  };
}

async function applyAnswer(answer: AgentPollAnswer, parts: PollingParts): Promise<void> {
  const { state, executor, machines, news } = parts;
  if (answer.spec !== undefined) await applySpec(answer.spec, parts);
  state.journal.receive(answer.operations);
  parts.onOperations(answer.operations);
  fetchAtOnce(answer.operations, parts.cache);
  executor.cancel(state.journal.cancel(answer.cancelled));
  answer.confirmed?.forEach(parts.confirm);
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

async function applySpec(spec: NodeSpec, parts: PollingParts): Promise<void> {
  const { siteId, state, cache, secrets, log } = parts;
  if (spec.nodeId !== siteId || spec.site === undefined) {
    log.error(
      { found: spec.nodeId, role: spec.role, expected: siteId },
      "the centre sent another agent's desired state; it is not taken",
    );
    return;
  }
  const { cacheImages, withdrawn, pinned, nodes, bootEntries } = spec.site;
  state.spec.replace(spec);
  state.cacheCatalog.learn(cacheImages, Date.now());
  cache.desire(cacheImages, withdrawn, pinned);
  keepPins(cache, state);
  secrets.desire(nodes);
  if (bootEntries !== undefined) await convergeEntries(bootEntries, parts);
  log.info(
    { generation: spec.generation, nodes: nodes.length, images: cacheImages.length },
    'desired state observed',
  );
}
