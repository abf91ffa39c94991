import type { EfiLoader } from '#contract/efiLoader.ts';
import type { Boots } from '../boots.ts';
import type { Holders } from '../holders.ts';
import type { BootDecision, MachineFacts } from '../machine.ts';
import type { BootRequest } from './request.ts';

/** Who knows which machine asks, and which boot it is in. */
interface Witnesses {
  boots: Boots;
  holders: Holders;
}

/** Of a machine that asks itself: who only names its MAC is no step of its boot. */
export function noteScript(machine: MachineFacts, decision: BootDecision, boots: Boots): void {
  const { mac, uuid, firmware, leasedTo } = machine;
  if (leasedTo !== mac) return;
  boots.note(
    mac,
    decision.kind === 'disk' ? 'boot.disk' : 'boot.script',
    `${inWords(decision, firmware)} (${[firmware, uuid].filter(Boolean).join(', ')})`,
    { step: 'script', boots: decision.kind },
  );
}

function inWords(decision: BootDecision, firmware: MachineFacts['firmware']): string {
  if (decision.kind === 'disk') return localDisk(firmware, decision.loader);
  if (decision.kind === 'vlan') return `goes on in VLAN ${decision.vlan}`;
  return `${decision.kind === 'iso' ? 'ISO' : 'ramdisk'} ${decision.digest.slice(0, 12)}`;
}

function localDisk(firmware: MachineFacts['firmware'], loader: EfiLoader | undefined): string {
  return loader === undefined || firmware === 'bios'
    ? 'local disk'
    : `local disk, EFI system partition ${loader.espGuid}`;
}

/** Once in a boot for each file, however often it is fetched. */
export function noteLoader({ from, path }: BootRequest, { boots, holders }: Witnesses): void {
  const mac = holders.macAt(from);
  if (mac === undefined) return;
  if (boots.isFirstPiece(mac, path)) boots.note(mac, 'boot.http', path, { step: 'loader', file: path });
  boots.loaderGiven(mac);
}
