import { copyFile, mkdir, open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { exists } from '#base/exists.ts';
import { bmcCertificate } from './bmc/certificate.ts';
import type { RackDisk } from './machine/disks.ts';
import { firmwareFile } from './machine/emulator.ts';
import { firmware } from './machine/firmware.ts';
import type { MachineRecord } from './record.ts';

/** Makes what a machine consists of on disk, keeping disks and NVRAM that are there; returns it with its BMC's certificate. */
export async function makeMachineFiles(machine: MachineRecord): Promise<MachineRecord> {
  await mkdir(machine.directory, { recursive: true });
  for (const disk of machine.disks) await makeDisk(disk);
  await makeNvram(machine);
  const { keyPem, certificatePem, sha256 } = await bmcCertificate(machine.bmc.host);
  await writeFile(path.join(machine.directory, 'bmc.key'), keyPem, { mode: 0o600 });
  await writeFile(path.join(machine.directory, 'bmc.crt'), certificatePem);
  return { ...machine, bmc: { ...machine.bmc, certificateSha256: sha256 } };
}

/** A sparse file: it takes room on the host only as the guest writes. */
async function makeDisk({ file, sizeBytes }: RackDisk): Promise<void> {
  const handle = await open(file, 'a');
  try {
    await handle.truncate(sizeBytes);
  } finally {
    await handle.close();
  }
}

/** Each machine has an NVRAM of its own: boot entries that its OS writes stay in it. */
async function makeNvram({ firmware: name, nvram, emulator }: MachineRecord): Promise<void> {
  const template = firmware(name).nvramTemplate;
  if (template === undefined || (await exists(nvram))) return;
  await copyFile(firmwareFile(template, emulator), nvram);
}
