import { diskId } from './disks.ts';

/** What the BMC was told about the next boot, in the words of Redfish's ComputerSystem.Boot. */
export interface BootOverride {
  target: 'None' | 'Pxe' | 'Hdd' | 'Cd' | 'UefiHttp';
  enabled: 'Disabled' | 'Once' | 'Continuous';
}

export const noOverride: BootOverride = { target: 'None', enabled: 'Disabled' };

/** The override that stays after a boot has used it. */
export function afterBoot(override: BootOverride): BootOverride {
  return override.enabled === 'Once' ? noOverride : override;
}

export const nicId = 'nic0';
export const cdId = 'cd0';

/**
 * Devices in the order in which the firmware tries them. Without an override: every disk, then the network, as servers
 * are shipped; so a machine with blank disks boots over the network. An override puts its device in front of that.
 */
export function bootOrder(override: BootOverride, diskCount: number): readonly string[] {
  const usual = [...Array.from({ length: diskCount }, (_, index) => diskId(index)), nicId];
  const first = firstDevice(override);
  return first === undefined ? usual : [first, ...usual.filter((device) => device !== first)];
}

function firstDevice({ target, enabled }: BootOverride): string | undefined {
  if (enabled === 'Disabled') return undefined;
  if (target === 'Pxe' || target === 'UefiHttp') return nicId;
  return target === 'Cd' ? cdId : undefined;
}

/** Whether the firmware's HTTP boot is wanted, which it offers only where PXE is off. */
export function bootsByHttp({ target, enabled }: BootOverride): boolean {
  return target === 'UefiHttp' && enabled !== 'Disabled';
}
