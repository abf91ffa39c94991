import type { SiteNode } from '#contract/nodeSpec.ts';
import type { BootOverride, MachineDriver } from './driver.ts';
import { cannot, withoutController } from './unsupported.ts';

/** Sends one magic packet per hardware address on the networks that machines boot on. */
export type Wake = (macs: readonly string[]) => Promise<void>;

/**
 * Drives a machine that has no BMC by Wake-on-LAN: it can be switched on, and no more. Whether it woke is not known by this; a boot of
 * it is seen by the steps that wait for one. Where it always tries the network first, the site's boot entry decides what it boots.
 */
export function wakeOnLan(node: SiteNode, wake: Wake): MachineDriver {
  return {
    ...withoutController('Wake-on-LAN'),
    setPower: async (action) => {
      if (node.macs.length === 0)
        throw cannot('Wake-on-LAN needs a hardware address: confirm one of the node', 'no-mac');
      // A machine that is on does not hear it: what is to be restarted must be off before.
      if (action !== 'on' && action !== 'cycle')
        throw cannot(`Wake-on-LAN cannot do ${action}: it can only switch a machine on`, 'power-action', {
          allowed: ['on', 'cycle'],
        });
      await wake(node.macs);
      return 'on';
    },
    setBootDevice: async (override) => bootByOrder(node, override, 'Wake-on-LAN'),
  };
}

/**
 * The boot device of a machine whose firmware is set by hand to try the network first: then it boots what the site says, its disk where
 * that is nothing.
 * @throws RailheadError UNSUPPORTED (`boot-device`) where that is not said, and for other devices
 */
export function bootByOrder({ bmc }: SiteNode, override: BootOverride, name: string): BootOverride {
  const allowed = ['pxe', 'disk'];
  if (bmc?.bootOrder === 'network-first' && allowed.includes(override.device))
    return Object.assign({ ...override }, { by: 'boot-order' });
  const message = `${name} cannot set a boot device: put the network first in the machine's firmware, and enroll it with bootOrder network-first`;
  throw cannot(message, 'boot-device', { device: override.device, allowed });
}
