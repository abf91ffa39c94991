import type { Log } from '#base/log.ts';
import { protocolVersion } from '#contract/agentWire.ts';
import type { NodeSpec } from '#contract/nodeSpec.ts';
import type { TrustExchange } from '../join/trustExchange.ts';
import type { CentreClient } from '../site/link/centreClient.ts';
import type { Journal } from './operations/journal.ts';
import type { Runner } from './operations/runner.ts';
import type { KeptSpec } from './specFile.ts';

export interface PollingParts {
  nodeId: string;
  /** The kernel's id of this boot: the centre sees by it that the machine has restarted. */
  bootId: string;
  client: Pick<CentreClient, 'poll'>;
  trust: TrustExchange;
  spec: KeptSpec;
  journal: Pick<Journal, 'receive'>;
  runner: Pick<Runner, 'take' | 'cancel'>;
  signal: AbortSignal;
  log: Log;
}

const waitSeconds = 30;

/**
 * Takes the node's desired state and operations from the centre. Returns one call of the loop. What it observed, and which operations the
 * journal has, the next poll tells: the centre repeats them until then.
 */
export function polling(parts: PollingParts): () => Promise<void> {
  const { bootId, client, trust, spec, journal, runner, signal } = parts;
  let taken: string[] = [];
  return async () => {
    const observedGeneration = spec.generation();
    const message = { protocol: protocolVersion, observedGeneration, waitSeconds, taken, bootId };
    const answer = await client.poll({ ...message, ...trust.known() }, signal);
    await trust.take(answer);
    if (answer.spec !== undefined) await takeSpec(answer.spec, parts);
    await journal.receive(answer.operations);
    runner.take();
    runner.cancel(answer.cancelled);
    taken = answer.operations.map(({ operationId }) => operationId);
  };
}

async function takeSpec(found: NodeSpec, { nodeId, spec, log }: PollingParts): Promise<void> {
  const { role, generation } = found;
  if (found.nodeId !== nodeId || role !== 'node') {
    log.error(
      { found: found.nodeId, role, expected: nodeId },
      "the centre sent another agent's desired state; it is not taken",
    );
    return;
  }
  await spec.replace(found);
  log.info({ generation, units: found.host?.units.length ?? 0 }, 'desired state observed');
}
