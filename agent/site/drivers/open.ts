import type { Log } from '#base/log.ts';
import { bindingIssue } from '#contract/bmcBinding.ts';
import { RailheadError } from '#contract/errors.ts';
import type { BmcBinding, SiteNode } from '#contract/nodeSpec.ts';
import type { Credentials } from '#contract/secrets.ts';
import { type BootMemory, IpmiBmc } from '#ipmi/bmc.ts';
import type { Firmware } from '#ipmi/bootOptions.ts';
import type { CipherMemory } from '#ipmi/client.ts';
import { openBmc } from '#redfish/bmc.ts';
import type { BmcMemory } from '#redfish/memory.ts';
import type { BmcPins } from '../store/bmcPins.ts';
import type { MachineDriver } from './driver.ts';
import { type ManualParts, manual } from './manual.ts';
import { type Wake, wakeOnLan } from './wakeOnLan.ts';

export interface DriverParts {
  pins: BmcPins;
  ciphers: CipherMemory;
  /** The program of IPMI. */
  ipmitool: string;
  /** What a machine was seen to boot by. */
  firmwareOf(macs: readonly string[]): Firmware | undefined;
  wake: Wake;
  manual: ManualParts;
  /** Asked when a session is opened: what it answers is nowhere else. */
  credentialsOf(node: BoundNode): Promise<Credentials>;
  log: Log;
}

/** A node that something drives. */
export type BoundNode = SiteNode & { bmc: BmcBinding };

/** Opens what drives a node, by its binding's driver. */
export type OpenDriver = (node: BoundNode) => Promise<MachineDriver>;

/** @throws RailheadError (the opener) INVALID_CONFIG for a binding that its driver cannot use, or what the credentials fail with */
export function driverOpener(parts: DriverParts): OpenDriver {
  const memories = new Map<string, BootMemory>();
  const learnt = new Map<string, BmcMemory>();
  const openers: Record<BmcBinding['driver'], OpenDriver> = {
    redfish: (node) => openRedfish(node, parts, learnt),
    ipmi: (node) => openIpmi(node, parts, memories),
    'wake-on-lan': async (node) => wakeOnLan(node, parts.wake),
    manual: async (node) => manual(node, parts.manual),
  };
  return async (node) => {
    const issue = bindingIssue(node.bmc);
    if (issue !== undefined)
      throw new RailheadError('INVALID_CONFIG', `${issue.path}: ${issue.message}`, { path: issue.path });
    return openers[node.bmc.driver](node);
  };
}

async function openRedfish(
  node: BoundNode,
  { pins, credentialsOf, log }: DriverParts,
  learnt: Map<string, BmcMemory>,
): Promise<MachineDriver> {
  const { address = '', certificateSha256, oldTls = false } = node.bmc;
  const pin = certificateSha256 ?? pins.find(address);
  // Outlives the session: what a BMC wants is learnt once.
  const memory = learnt.get(address) ?? {};
  learnt.set(address, memory);
  return openBmc({
    address,
    ...(await credentialsOf(node)),
    ...(pin === undefined ? {} : { certificateSha256: pin }),
    onPin: (found) => pins.keep(address, found),
    log: log.child({ bmc: address }),
    oldTls,
    memory,
  });
}

async function openIpmi(
  node: BoundNode,
  parts: DriverParts,
  memories: Map<string, BootMemory>,
): Promise<MachineDriver> {
  const { address = '', firmware } = node.bmc;
  const memory = memories.get(address) ?? {};
  memories.set(address, memory);
  return new IpmiBmc({
    address,
    ...(await parts.credentialsOf(node)),
    program: parts.ipmitool,
    ciphers: parts.ciphers,
    memory,
    firmware: () => firmware ?? parts.firmwareOf(node.macs) ?? 'uefi',
    log: parts.log.child({ bmc: address }),
  });
}
