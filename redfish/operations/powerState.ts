import { backoffMs } from '#base/backoff.ts';
import { RailheadError } from '#contract/errors.ts';
import type { RedfishClient } from '../client.ts';

export type Power = 'on' | 'off';

/**
 * A value of PowerState: there, on the way there, or what a BMC does not know of its own machine (null and the
 * like).
 */
export type ReportedPower = Power | 'turning-on' | 'turning-off' | 'unknown';

/** Paused is a powered machine whose processors are halted. */
export function powerOf(reported: unknown): ReportedPower {
  if (reported === 'On' || reported === 'Paused') return 'on';
  if (reported === 'Off') return 'off';
  if (reported === 'PoweringOn') return 'turning-on';
  return reported === 'PoweringOff' ? 'turning-off' : 'unknown';
}

export interface Machine {
  client: RedfishClient;
  /** Path of its ComputerSystem. */
  path: string;
}

const pause = { firstMs: 1000, maxMs: 4000 };

/**
 * Reads the power state until it is one of `wanted`. A state in transit is "not yet", never the one it leads to.
 * @throws RailheadError DRIVER_ERROR, reason `power-timeout`, with the last state that the BMC told
 */
export async function waitForPower(
  machine: Machine,
  wanted: readonly Power[],
  deadline: number,
): Promise<Power> {
  const { client, path } = machine;
  for (let reads = 1; ; reads++) {
    const { PowerState } = (await client.get(path)).body;
    const power = powerOf(PowerState);
    if ((power === 'on' || power === 'off') && wanted.includes(power)) return power;
    const waitMs = backoffMs(reads, pause);
    if (client.clock.now() + waitMs > deadline) throw powerTimeout(wanted, PowerState);
    await client.clock.sleep(waitMs);
  }
}

function powerTimeout(wanted: readonly Power[], lastState: unknown): RailheadError {
  return new RailheadError(
    'DRIVER_ERROR',
    `the BMC still reports the power state ${lastState}, expected ${wanted.join(' or ')}: look at the machine`,
    { reason: 'power-timeout', lastState: lastState ?? null, wanted },
  );
}
