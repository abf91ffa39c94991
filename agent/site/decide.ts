import type { MachineFacts } from '#bootserver/machine.ts';
import { type BootEntry, isIsoEntry, type RamdiskEntry } from '#contract/bootEntry.ts';
import type { EfiLoader } from '#contract/efiLoader.ts';
import { isSameUuid } from '#contract/productUuid.ts';

/** What a machine is to boot, and in words for its timeline why. */
export type Turn =
  | { kind: 'disk'; why: string; loader?: EfiLoader; alarm?: true }
  | { kind: 'vlan'; vlan: number }
  | { kind: 'ramdisk'; digest: string; entry: RamdiskEntry }
  | { kind: 'iso'; digest: string };

/** What the site knows of a machine that asks. */
export interface KnownMachine {
  entry?: BootEntry | undefined;
  /** Of the disk that was deployed last. */
  loader?: EfiLoader | undefined;
  /** The MAC that the asking address is leased to. */
  leasedTo?: string | undefined;
  /** Whether an image was withdrawn: nothing boots it any more. */
  isWithdrawn?(digest: string): boolean;
}

/**
 * Decides one script fetch: the machine's boot entry, if it is for this machine and has an image for its architecture; else its
 * disk, by the loader that was deployed there last. Another machine than the node, or another host that only names its MAC, gets
 * no token and is told nothing of the node's disk, whether there is an entry or not. An entry for a VLAN is served in that VLAN only:
 * elsewhere the machine is sent there.
 */
export function decideBoot(machine: MachineFacts, known: KnownMachine): Turn {
  const { entry, loader, leasedTo } = known;
  const disk = (why: string): Turn => ({ kind: 'disk', why, ...(loader === undefined ? {} : { loader }) });
  if (leasedTo !== machine.mac) {
    const why = `its script was asked for from ${machine.address}, an address that is not leased to it`;
    return { kind: 'disk', why, ...(entry !== undefined && { alarm: true }) };
  }
  if (entry === undefined) return disk('no boot entry');
  if (!sameMachine(entry.uuid, machine.uuid)) {
    const why = `the boot entry is for the machine with UUID ${entry.uuid}, this one says ${machine.uuid}`;
    return { kind: 'disk', why, alarm: true };
  }
  if (entry.vlan !== undefined && entry.vlan !== machine.vlan) return { kind: 'vlan', vlan: entry.vlan };
  if (isIsoEntry(entry)) {
    const { ref, digest } = entry.iso;
    if (known.isWithdrawn?.(digest)) return disk(`the ISO of its boot entry, ${ref}, is withdrawn`);
    return { kind: 'iso', digest };
  }
  const digest = entry.ramdisk.digests[machine.architecture];
  if (digest === undefined) return disk(`${entry.ramdisk.ref} has no image for ${machine.architecture}`);
  if (known.isWithdrawn?.(digest))
    return disk(`the ramdisk of its boot entry, ${entry.ramdisk.ref}, is withdrawn`);
  return { kind: 'ramdisk', digest, entry };
}

/** A UUID that either side lacks proves nothing. */
function sameMachine(expected: string | undefined, found: string | undefined): boolean {
  if (expected === undefined || found === undefined) return true;
  return isSameUuid(expected, found);
}
