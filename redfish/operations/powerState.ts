import { RailheadError } from '#contract/errors.ts';
import type { RedfishClient, Resource } from '../client.ts';
import type { JsonObject } from '../json.ts';
import type { BmcMemory } from '../memory.ts';
import type { Vendor } from '../vendors/vendor.ts';

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
  memory: BmcMemory;
  vendor: Vendor;
  /** Where its links lead, as they were when it was found: they stay. Its state is read anew. */
  links: JsonObject;
  /** The system as it was found, for whoever asks first. */
  takeFresh(): Resource | undefined;
}

/** Most changes show within seconds: looked at often then, later seldom. One read at a time is what a BMC bears. */
const pause = { soonMs: 400, soonForMs: 30_000, laterMs: 2000 };

export interface SettledPower {
  power: Power;
  /** The system as it was read. */
  system: Resource;
}

/**
 * Reads the power state until it is one of `wanted`. A state in transit is "not yet", never the one it leads to.
 * @throws RailheadError DRIVER_ERROR, reason `power-timeout`, with the last state that the BMC told
 */
export async function waitForPower(
  machine: Machine,
  wanted: readonly Power[],
  deadline: number,
): Promise<SettledPower> {
  const { client, path } = machine;
  const since = client.clock.now();
  for (;;) {
    const system = machine.takeFresh() ?? (await client.get(path));
    const { PowerState } = system.body;
    const power = powerOf(PowerState);
    if ((power === 'on' || power === 'off') && wanted.includes(power)) return { power, system };
    const now = client.clock.now();
    const waitMs = now - since < pause.soonForMs ? pause.soonMs : pause.laterMs;
    if (now + waitMs > deadline) throw powerTimeout(wanted, PowerState);
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
