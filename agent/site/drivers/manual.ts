import { systemClock } from '#base/clock.ts';
import { RailheadError } from '#contract/errors.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import type { PowerAction } from '#contract/steps.ts';
import type { DriveOptions, MachineDriver, Power } from './driver.ts';
import type { Request, Requests } from './requests.ts';
import { withoutController } from './unsupported.ts';
import { bootByOrder } from './wakeOnLan.ts';

export interface ManualParts {
  requests: Requests;
  /** Whether one of these machines was seen to network-boot after `since` (milliseconds). */
  bootedSince(macs: readonly string[], since: number): boolean;
}

const lookEveryMs = 1000;
const patienceMs = 300_000;

/**
 * Drives a machine by the hands of an operator: asks for what is to be done, in plain words, and waits for the machine's boot on the
 * network or for the operator's word that it is done.
 */
export function manual(node: SiteNode, parts: ManualParts): MachineDriver {
  return {
    ...withoutController('driver manual'),
    setPower: async (action, options) => {
      const words = powerWords[action];
      await done(node, `${words.please} ${nameOf(node)}`, words.boots, options, parts);
      return words.power;
    },
    setBootDevice: async (override, options) => {
      if (node.bmc?.bootOrder === 'network-first' && ['pxe', 'disk'].includes(override.device))
        return bootByOrder(node, override, 'driver manual');
      const often = override.persistent ? 'from now on' : 'the next time';
      await done(node, `have ${nameOf(node)} boot by ${override.device} ${often}`, false, options, parts);
      return override;
    },
  };
}

const powerWords: Readonly<Record<PowerAction, { please: string; boots: boolean; power: Power }>> = {
  on: { please: 'switch on', boots: true, power: 'on' },
  off: { please: 'switch off', boots: false, power: 'off' },
  'graceful-off': { please: 'shut down and switch off', boots: false, power: 'off' },
  reset: { please: 'reset', boots: true, power: 'on' },
  'graceful-restart': { please: 'restart the OS of', boots: true, power: 'on' },
  cycle: { please: 'switch off and on again', boots: true, power: 'on' },
  nmi: { please: 'send a non-maskable interrupt to', boots: false, power: 'on' },
};

function nameOf({ nodeId, hostname, macs }: SiteNode): string {
  const facts = [hostname, ...macs.slice(0, 2)].filter((fact) => fact !== undefined);
  return facts.length === 0 ? nodeId : `${nodeId} (${facts.join(', ')})`;
}

/** @throws RailheadError UNAVAILABLE (`operator-timeout`) when neither boot nor word comes before the deadline */
async function done(
  node: SiteNode,
  text: string,
  boots: boolean,
  { deadline = Date.now() + patienceMs, signal }: DriveOptions = {},
  { requests, bootedSince }: ManualParts,
): Promise<void> {
  const since = Date.now();
  const request = requests.ask(node, text);
  try {
    while (!request.confirmed && !(boots && bootedSince(node.macs, since))) {
      if (Date.now() >= deadline) throw nobodyDid(request);
      await systemClock.sleep(Math.min(lookEveryMs, Math.max(1, deadline - Date.now())), signal);
    }
  } finally {
    requests.end(request);
  }
}

function nobodyDid({ text, nodeId }: Request): RailheadError {
  return new RailheadError(
    'UNAVAILABLE',
    `nobody did it in time: ${text}; then confirm with railhead nodes confirm ${nodeId}, or bcd site confirm ${nodeId} there`,
    {
      reason: 'operator-timeout',
    },
  );
}
