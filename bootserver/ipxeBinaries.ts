import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { isENOENT } from '#base/errors.ts';
import { RailheadError } from '#contract/errors.ts';

/**
 * The iPXE binaries of a folder, in memory: a few MB that every reader shares.
 * @throws RailheadError INVALID_CONFIG, path `ipxeDirectory`, when there are none
 */
export function loadBinaries(directory: string): Promise<Map<string, Buffer>> {
  const message = `no iPXE binaries in ${directory}: run "railhead ipxe refresh"`;
  return loadFolder(
    directory,
    new RailheadError('INVALID_CONFIG', message, { path: 'ipxeDirectory', directory }),
  );
}

/**
 * The same for shim and GRUB.
 * @throws RailheadError INVALID_CONFIG, path `shimDirectory`, when there are none
 */
export function loadShim(directory: string): Promise<Map<string, Buffer>> {
  const message = `no shim and GRUB in ${directory}: run "railhead secure-boot refresh"`;
  return loadFolder(
    directory,
    new RailheadError('INVALID_CONFIG', message, { path: 'shimDirectory', directory }),
  );
}

async function loadFolder(directory: string, missing: RailheadError): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const name of await namesIn(directory)) files.set(name, await readFile(path.join(directory, name)));
  if (files.size === 0) throw missing;
  return files;
}

/** None of a folder that is not there. */
async function namesIn(directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name)
      .filter(isBinary);
  } catch (error) {
    if (isENOENT(error)) return [];
    throw error;
  }
}

/** All but `manifest.json` and half-written files. */
function isBinary(name: string): boolean {
  return !name.startsWith('.') && !name.endsWith('.json');
}
