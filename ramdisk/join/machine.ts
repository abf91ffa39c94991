import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { ignore } from '#base/errors.ts';
import { canonicalMac } from '#contract/bootEntry.ts';
import type { RamdiskJoin } from '#contract/join.ts';
import { readTrustLevel } from './firmware.ts';

/** What the machine says of itself when it joins. */
export interface MachineFacts {
  bootId: string;
  uuid?: string;
  /** Hardware addresses of its Ethernet interfaces, those with a link first. */
  macs: string[];
  /** How far its firmware lets it vouch for itself. */
  trust: RamdiskJoin['trust'];
}

/** Reads the SMBIOS UUID, the kernel's boot id, the hardware addresses and what firmware verified; `root` is `/` but in tests. */
export async function readMachineFacts(root = '/'): Promise<MachineFacts> {
  const uuid = usableUuid(await textOf(path.join(root, 'sys/class/dmi/id/product_uuid')));
  const bootId = await textOf(path.join(root, 'proc/sys/kernel/random/boot_id'));
  const macs = await macsOf(path.join(root, 'sys/class/net'));
  const trust = await readTrustLevel(root);
  return { bootId, macs, trust, ...(uuid !== undefined && { uuid }) };
}

/** Boards left as the factory made them have all zeros or all ones: that names no machine. */
function usableUuid(text: string): string | undefined {
  const uuid = text.toLowerCase();
  const digits = uuid.replaceAll('-', '');
  if (!/^[0-9a-f]{32}$/.test(digits) || /^(0+|f+)$/.test(digits)) return undefined;
  return uuid;
}

async function macsOf(directory: string): Promise<string[]> {
  const names = (await readdir(directory).catch(() => [])).sort();
  const interfaces = await Promise.all(
    names.map(async (name) => ({
      up: (await textOf(path.join(directory, name, 'carrier'))) === '1',
      ethernet: (await textOf(path.join(directory, name, 'type'))) === '1',
      mac: canonicalMac(await textOf(path.join(directory, name, 'address'))),
    })),
  );
  const macs = interfaces
    .filter(({ ethernet, mac }) => ethernet && mac !== undefined)
    .sort((a, b) => Number(b.up) - Number(a.up))
    .map(({ mac }) => mac as string);
  // A VLAN has the address of its card.
  return [...new Set(macs)];
}

async function textOf(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(ignore);
  return (text ?? '').trim();
}
