import type { Log } from '#base/log.ts';
import { bindingIssue } from '#contract/bmcBinding.ts';
import { RailheadError } from '#contract/errors.ts';
import type { BmcBinding } from '#contract/nodeSpec.ts';
import { IpmiBmc } from '#ipmi/bmc.ts';
import type { Firmware } from '#ipmi/bootOptions.ts';
import { BootMemory } from '#ipmi/memory.ts';
import type { CipherMemory } from '#ipmi/session.ts';
import { openBmc } from '#redfish/bmc.ts';
import { BmcMemory } from '#redfish/memory.ts';
import type { BmcCredentials } from '../secrets/bmcCredentials.ts';
import type { BmcMemories } from '../store/bmcMemories.ts';
import type { BmcPins } from '../store/bmcPins.ts';
import type { BoundNode } from './boundNode.ts';
import type { MachineDriver } from './driver.ts';
import { type ManualParts, manual } from './manual.ts';
import { type Wake, wakeOnLan } from './wakeOnLan.ts';

export interface DriverParts {
  pins: Pick<BmcPins, 'find' | 'keep'>;
  ciphers: CipherMemory;
  memories: Pick<BmcMemories, 'of'>;
  /** The program of IPMI. */
  ipmitool: string;
  /** What a machine was seen to boot by. */
  firmwareOf(macs: readonly string[]): Firmware | undefined;
  wake: Wake;
  manual: ManualParts;
  /** Asked when a session is opened: what it answers is nowhere else. */
  credentialsOf(node: BoundNode): Promise<BmcCredentials>;
  log: Log;
}

/** Opens what drives a node, by its binding's driver. */
export type OpenDriver = (node: BoundNode) => Promise<MachineDriver>;

/** @throws RailheadError (the opener) INVALID_CONFIG for a binding that its driver cannot use, or what the credentials fail with */
export function driverOpener(parts: DriverParts): OpenDriver {
  const openers: Record<BmcBinding['driver'], OpenDriver> = {
    redfish: (node) => openRedfish(node, parts),
    ipmi: (node) => openIpmi(node, parts),
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
  { pins, memories, credentialsOf, log }: DriverParts,
): Promise<MachineDriver> {
  const { address = '', certificateSha256, oldTls = false } = node.bmc;
  const pin = certificateSha256 ?? pins.find(address);
  return openBmc({
    address,
    ...(await credentialsOf(node)),
    ...(pin === undefined ? {} : { certificateSha256: pin }),
    onPin: (found) => pins.keep(address, found),
    log: log.child({ bmc: address }),
    oldTls,
    // Outlives the session and the agent: what a BMC wants is learnt once.
    memory: memories.of(address, BmcMemory),
  });
}

async function openIpmi(node: BoundNode, parts: DriverParts): Promise<MachineDriver> {
  const { address = '', firmware } = node.bmc;
  return new IpmiBmc({
    address,
    ...(await parts.credentialsOf(node)),
    program: parts.ipmitool,
    ciphers: parts.ciphers,
    memory: parts.memories.of(address, BootMemory),
    firmware: () => firmware ?? parts.firmwareOf(node.macs) ?? 'uefi',
    log: parts.log.child({ bmc: address }),
  });
}
