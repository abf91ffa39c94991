import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { exists } from '#base/exists.ts';
import { elfNeeds } from '#ramdisk/image/elf.ts';

const folders = ['usr/lib/x86_64-linux-gnu', 'usr/lib64', 'lib/x86_64-linux-gnu', 'lib64'];

/**
 * The shared libraries that programs need, directly or not, as paths in the folder of unpacked packages.
 * @throws Error that names the library which no package brought
 */
export async function librariesOf(programs: readonly string[], packages: string): Promise<string[]> {
  const found = new Map<string, string>();
  const pending = (await Promise.all(programs.map(neededBy))).flat();
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (found.has(name)) continue;
    const library = await locate(name, packages);
    found.set(name, library);
    pending.push(...(await neededBy(path.join(packages, library))));
  }
  return [...found.values()].toSorted();
}

async function neededBy(file: string): Promise<string[]> {
  return elfNeeds(await readFile(file))?.libraries ?? [];
}

async function locate(name: string, packages: string): Promise<string> {
  for (const folder of folders) {
    const file = path.join(folder, name);
    if (await exists(path.join(packages, file))) return file;
  }
  throw new Error(
    `the demo OS needs ${name}, which none of its packages holds: add the package to rack/os/packages.ts`,
  );
}
