import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { ignore } from '#base/errors.ts';
import { canonicalSerial, canonicalWwn, type Disk } from './disk.ts';
import { usesOf } from './uses.ts';

/**
 * The machine's disks, read from sysfs: no udev and no daemon is needed, and what is there now is seen, not what was once. Devices
 * without hardware behind them (loop, ram, md, dm) and hidden ones (paths of an NVMe multipath) are left out; optical drives too.
 * Several paths to one WWN are one disk. `root` is `/` but in tests.
 */
export async function listDisks(root = '/'): Promise<Disk[]> {
  const block = path.join(root, 'sys/block');
  const names = (await readdir(block)).sort();
  const disks = await Promise.all(names.map((name) => readDisk(root, name)));
  return mergePaths(disks.filter((disk) => disk !== undefined));
}

/** One disk per WWN: the first path stands for it and names the others; what uses one path uses the disk. */
function mergePaths(disks: readonly Disk[]): Disk[] {
  const merged: Disk[] = [];
  for (const disk of disks) {
    const same = merged.find((known) => isSamePath(known, disk));
    if (same === undefined) merged.push({ ...disk, otherPaths: [...disk.otherPaths] });
    else {
      same.otherPaths.push(disk.name);
      same.usedBy = [...same.usedBy, ...disk.usedBy];
    }
  }
  return merged;
}

/** Namespaces and logical units of one controller may share a serial, and cheap bridges a WWN: so size and serial must agree too. */
function isSamePath(known: Disk, disk: Disk): boolean {
  return (
    disk.wwn !== undefined &&
    known.wwn === disk.wwn &&
    known.serial === disk.serial &&
    known.sizeBytes === disk.sizeBytes
  );
}

async function readDisk(root: string, name: string): Promise<Disk | undefined> {
  const directory = path.join(root, 'sys/block', name);
  const hasHardware = (await readdir(path.join(directory, 'device')).catch(ignore)) !== undefined;
  if (!hasHardware || /^(sr|fd|nbd)\d/.test(name)) return undefined;
  if ((await text(directory, 'hidden')) === '1') return undefined;
  const [serial, wwn, model] = await Promise.all([
    serialOf(directory),
    wwnOf(directory),
    text(directory, 'device/model'),
  ]);
  return {
    name,
    path: `/dev/${name.replaceAll('!', '/')}`,
    // The kernel counts in 512 bytes here whatever the sector size.
    sizeBytes: Number(await text(directory, 'size')) * 512,
    logicalSectorSize: Number(await text(directory, 'queue/logical_block_size')) || 512,
    rotational: (await text(directory, 'queue/rotational')) === '1',
    removable: (await text(directory, 'removable')) === '1',
    readOnly: (await text(directory, 'ro')) === '1',
    usedBy: await usesOf(root, name),
    otherPaths: [],
    ...(serial !== undefined && { serial }),
    ...(wwn !== undefined && { wwn }),
    ...(model !== undefined && model !== '' && { model }),
  };
}

/** virtio has `serial`, NVMe and MMC `device/serial`, SCSI and SATA the vital product data page 0x80 (SPC-4 7.8.14). */
async function serialOf(directory: string): Promise<string | undefined> {
  for (const file of ['serial', 'device/serial']) {
    const serial = canonicalSerial((await text(directory, file)) ?? '');
    if (serial !== '') return serial;
  }
  const page = await readFile(path.join(directory, 'device/vpd_pg80')).catch(ignore);
  if (page === undefined || page.length < 4) return undefined;
  const serial = canonicalSerial(
    page.toString('latin1', 4, 4 + page.readUInt16BE(2)).replaceAll(/[^\x20-\x7e]/g, ''),
  );
  return serial === '' ? undefined : serial;
}

async function wwnOf(directory: string): Promise<string | undefined> {
  for (const file of ['wwid', 'device/wwid']) {
    const wwn = canonicalWwn((await text(directory, file)) ?? '');
    if (wwn !== '') return wwn;
  }
  return undefined;
}

async function text(directory: string, file: string): Promise<string | undefined> {
  const content = await readFile(path.join(directory, file), 'utf8').catch(ignore);
  return content?.trim();
}
