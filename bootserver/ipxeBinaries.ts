import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { isENOENT } from '#base/errors.ts';
import { RailheadError } from '#contract/errors.ts';

/** The boot loaders of a folder, in memory: a few MB that every reader shares. */
export async function loadBinaries(directory: string): Promise<Map<string, Buffer>> {
  const names = await namesIn(directory);
  const files = new Map<string, Buffer>();
  for (const name of names) files.set(name, await readFile(path.join(directory, name)));
  if (files.size === 0) throw missing(directory);
  return files;
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name)
      .filter(isBinary);
  } catch (error) {
    if (isENOENT(error)) throw missing(directory);
    throw error;
  }
}

function missing(directory: string): RailheadError {
  const message = `no iPXE binaries in ${directory}: run "railhead ipxe refresh"`;
  return new RailheadError('INVALID_CONFIG', message, { path: 'ipxeDirectory', directory });
}

/** All but `manifest.json` and half-written files. */
function isBinary(name: string): boolean {
  return !name.startsWith('.') && !name.endsWith('.json');
}
