import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { run } from '#base/command.ts';
import { espType } from '../gpt.ts';

/** One partition of a disk as blkid sees it. */
export interface Partition {
  /** `/dev/sda1` */
  path: string;
  number: number;
  /** The file system: `vfat`, `ext4`. */
  fileSystem?: string;
  /** The file system's label. */
  label?: string;
  isEsp: boolean;
  /** The partition's own GUID in a GPT, lower case. */
  guid?: string;
}

/** The partitions that the kernel shows of a disk (`sda`), in their order. */
export async function listPartitions(disk: string): Promise<Partition[]> {
  const names = (await readdir(path.join('/sys/block', disk))).filter((name) => name.startsWith(disk));
  const partitions = await Promise.all(names.map((name) => probe(`/dev/${name}`)));
  return partitions.sort((a, b) => a.number - b.number);
}

/** blkid ends with status 2 when it finds nothing: a partition without a file system is still one. */
async function probe(device: string): Promise<Partition> {
  const text = await run('blkid', ['-p', '-o', 'export', device]).catch(() => '');
  return readProbe(device, text);
}

/** Reads blkid's `export` format: lines `NAME=value` with shell escapes. Never throws. */
export function readProbe(device: string, text: string): Partition {
  const fields = fieldsOf(text);
  const type = fields.get('PART_ENTRY_TYPE')?.toLowerCase();
  // In an MBR table this is the disk's signature and the partition's number, no GUID.
  const guid =
    fields.get('PART_ENTRY_SCHEME') === 'gpt' ? fields.get('PART_ENTRY_UUID')?.toLowerCase() : undefined;
  return {
    path: device,
    number: Number(fields.get('PART_ENTRY_NUMBER') ?? /\d+$/.exec(device)?.[0] ?? 0),
    // 0xef is the EFI system partition of an MBR table.
    isEsp: type === espType || type === '0xef',
    ...readFileSystem(text),
    ...(guid !== undefined && { guid }),
  };
}

/** The file system and its label in the same format. Never throws. */
export function readFileSystem(text: string): Pick<Partition, 'fileSystem' | 'label'> {
  const fields = fieldsOf(text);
  const [fileSystem, label] = [fields.get('TYPE'), fields.get('LABEL') ?? fields.get('LABEL_FATBOOT')];
  return { ...(fileSystem !== undefined && { fileSystem }), ...(label !== undefined && { label }) };
}

function fieldsOf(text: string): Map<string, string> {
  return new Map(
    text.split('\n').map((line) => {
      const equals = line.indexOf('=');
      return [line.slice(0, Math.max(0, equals)), line.slice(equals + 1).replaceAll(/\\(.)/g, '$1')] as const;
    }),
  );
}
