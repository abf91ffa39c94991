import { readFile } from 'node:fs/promises';
import { arch } from 'node:os';
import path from 'node:path';
import { ignore } from '#base/errors.ts';
import { known } from '#base/known.ts';
import type { SystemInventory } from '#contract/inventory.ts';
import { readMachineFacts } from '../join/machine.ts';
import { factOf } from './text.ts';

/** What boards say whose maker left the field as it was. */
const meaningless =
  /^(to be filled by o\.?e\.?m\.?|default string|not specified|system (product name|manufacturer|serial number)|none|n\/a|0+)$/i;

/** The board, its firmware, its processors and memory: SMBIOS through sysfs, and procfs. */
export async function readSystem(root = '/'): Promise<SystemInventory> {
  const { uuid } = await readMachineFacts(root);
  const dmi = async (name: string) => {
    const text = await factOf(path.join(root, 'sys/class/dmi/id', name));
    return text === undefined || meaningless.test(text) ? undefined : text;
  };
  const [manufacturer, product, serial, firmwareVersion, firmwareDate] = await Promise.all(
    ['sys_vendor', 'product_name', 'product_serial', 'bios_version', 'bios_date'].map(dmi),
  );
  const efi = path.join(root, 'sys/firmware/efi');
  const uefi = (await factOf(path.join(efi, 'fw_platform_size'))) !== undefined;
  const secureBoot = uefi ? await readSecureBoot(path.join(efi, 'efivars')) : undefined;
  return {
    ...known({ uuid, manufacturer, product, serial, firmwareVersion, firmwareDate, secureBoot }),
    ...known({ tpm: await readTpm(root) }),
    architecture: arch() === 'arm64' ? 'aarch64' : 'x86_64',
    bootMode: uefi ? 'uefi' : 'bios',
    cpus: readCpus((await readFile(path.join(root, 'proc/cpuinfo'), 'utf8').catch(ignore)) ?? ''),
    memoryBytes: readMemory((await factOf(path.join(root, 'proc/meminfo'))) ?? ''),
  };
}

/** The variable SecureBoot of the global namespace (UEFI 2.10, section 3.3): four bytes of attributes, then 0 or 1. */
async function readSecureBoot(directory: string): Promise<boolean | undefined> {
  const file = path.join(directory, 'SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c');
  const bytes = await readFile(file).catch(ignore);
  return bytes === undefined || bytes.length !== 5 ? undefined : bytes[4] === 1;
}

async function readTpm(root: string): Promise<'1.2' | '2.0' | undefined> {
  const major = await factOf(path.join(root, 'sys/class/tpm/tpm0/tpm_version_major'));
  if (major === '2') return '2.0';
  return major === '1' ? '1.2' : undefined;
}

/**
 * Counts /proc/cpuinfo. On ARM there are no `physical id` and `core id`: each processor counts as a core of one socket there.
 * Never throws.
 */
export function readCpus(cpuinfo: string): SystemInventory['cpus'] {
  const processors = cpuinfo.split(/\n\n+/).filter((block) => /^processor\s*:/m.test(block));
  const field = (block: string, name: string) => new RegExp(`^${name}\\s*: *(.*)$`, 'm').exec(block)?.[1];
  const sockets = new Set(processors.map((block) => field(block, 'physical id') ?? '0'));
  const cores = new Set(
    processors.map((block, at) => `${field(block, 'physical id') ?? '0'}:${field(block, 'core id') ?? at}`),
  );
  const model = processors[0] === undefined ? undefined : field(processors[0], 'model name')?.slice(0, 256);
  return { ...known({ model }), sockets: sockets.size, cores: cores.size, threads: processors.length };
}

/** The memory that the kernel has, in bytes; 0 when the text does not say. Never throws. */
export function readMemory(meminfo: string): number {
  return Number(/^MemTotal:\s*(\d+) kB/m.exec(meminfo)?.[1] ?? 0) * 1024;
}
