import { run } from '#base/command.ts';
import { espType, type GptHeader, readPartitions } from '../gpt.ts';
import { readFileSystem } from './partitions.ts';

/** A partition by its place on the disk: the kernel shows none of a disk whose sector 0 is not written yet. */
export interface Volume {
  isEsp: boolean;
  offset: number;
  sizeBytes: number;
}

/** A volume and the file system found on it. */
export interface ProbedVolume extends Volume {
  fileSystem?: string;
  label?: string;
}

/** The partitions of an image by its first bytes: those of its GPT, else the primary ones of its MBR table. Never throws. */
export function volumesOf(head: Buffer, gpt: GptHeader | undefined, sectorSize: number): Volume[] {
  if (gpt === undefined) return primaryPartitions(head, sectorSize);
  return readPartitions(head, gpt).map(({ type, firstLba, lastLba }) => ({
    isEsp: type === espType,
    offset: firstLba * gpt.sectorSize,
    sizeBytes: (lastLba - firstLba + 1) * gpt.sectorSize,
  }));
}

/** UEFI 2.10 table 5.1: four records of 16 bytes from byte 446; 0xee protects a GPT, the others here hold further tables. */
const notVolumes = [0x00, 0x05, 0x0f, 0x85, 0xee];

function primaryPartitions(head: Buffer, sectorSize: number): Volume[] {
  if (head.length < 512 || head.readUInt16BE(510) !== 0x55aa) return [];
  return [446, 462, 478, 494].flatMap((at) => {
    const type = head.readUInt8(at + 4);
    const [first, count] = [head.readUInt32LE(at + 8), head.readUInt32LE(at + 12)];
    if (notVolumes.includes(type) || first === 0 || count === 0) return [];
    return [{ isEsp: type === 0xef, offset: first * sectorSize, sizeBytes: count * sectorSize }];
  });
}

/** What file system is on a volume of a disk; blkid ends with status 2 when it finds none. */
export async function probeVolume(disk: string, volume: Volume): Promise<ProbedVolume> {
  const range = ['-O', String(volume.offset), '-S', String(volume.sizeBytes)];
  const text = await run('blkid', ['-p', '-o', 'export', ...range, disk]).catch(() => '');
  return { ...volume, ...readFileSystem(text) };
}
