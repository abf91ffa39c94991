import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { isENOENT } from '#base/errors.ts';
import { RailheadError } from '#contract/errors.ts';

/** All of it is held in memory: the boot files of a Pi are some 20 MiB, with an operating system's kernel some 100. */
const mostBytes = 512 * 1024 * 1024;

/** What the boot ROMs of Raspberry Pis find, by the names that they ask for. */
export interface RaspberryPiFiles {
  get(name: string): Buffer | undefined;
}

/**
 * How a ROM names a machine's own folder: the last 8 digits of the serial number, or the MAC with dashes (raspberrypi/documentation,
 * TFTP_PREFIX 0 and 2). Without one it asks at the root.
 */
const ownFolder = /^(?:[0-9a-f]{8}|[0-9a-f]{2}(?:-[0-9a-f]{2}){5})\//;

/** A machine's own folder goes before the files that all share. */
export function raspberryPiFiles(files: ReadonlyMap<string, Buffer>): RaspberryPiFiles {
  return { get: (name) => files.get(name) ?? files.get(name.replace(ownFolder, '')) };
}

/**
 * The files below a folder, by their paths in it.
 * @throws RailheadError INVALID_CONFIG when there is no such folder, or more than 512 MiB in it
 */
export async function readRaspberryPiFiles(directory: string): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  let bytes = 0;
  for (const name of await namesBelow(directory)) {
    const file = path.join(directory, name);
    bytes += (await stat(file)).size;
    if (bytes > mostBytes)
      throw unusable(
        directory,
        `${directory} holds more than ${mostBytes / 1024 / 1024} MiB: keep boot files there alone`,
      );
    files.set(name, await readFile(file));
  }
  return files;
}

async function namesBelow(directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)));
  } catch (error) {
    if (isENOENT(error)) throw unusable(directory, `there is no folder ${directory}`);
    throw error;
  }
}

function unusable(directory: string, message: string): RailheadError {
  return new RailheadError('INVALID_CONFIG', message, { path: 'raspberryPiDirectory', directory });
}
