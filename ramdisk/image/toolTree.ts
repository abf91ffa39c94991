import { copyFile, lstat, mkdir, readdir, readFile, readlink, realpath, symlink } from 'node:fs/promises';
import path from 'node:path';
import { elfNeeds } from './elf.ts';
import type { ToolRow } from './tools.ts';

const libraryFolders = ['usr/lib/x86_64-linux-gnu', 'usr/lib/aarch64-linux-gnu', 'usr/lib'];

/**
 * Copies the programs that the rows name from unpacked packages into `stage`, with the loader and every library that they or
 * those libraries need: all from the packages, none from the host.
 * @throws Error naming a file or library that the packages do not have
 */
export async function stageTools(
  rows: readonly ToolRow[],
  packagesRoot: string,
  stage: string,
): Promise<void> {
  const open: string[] = [];
  for (const name of rows.flatMap(({ files }) => files)) open.push(...(await matching(packagesRoot, name)));
  const done = new Set<string>();
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (done.has(file)) continue;
    done.add(file);
    const target = await copyEntry(file, packagesRoot, stage);
    if (target !== undefined) open.push(target);
    else open.push(...(await neededFiles(path.join(packagesRoot, file), packagesRoot)));
  }
}

/** Copies a file, or a link: then the result is the file that the link points to. */
async function copyEntry(file: string, packagesRoot: string, stage: string): Promise<string | undefined> {
  const from = path.join(packagesRoot, file);
  const to = path.join(stage, file);
  await mkdir(path.dirname(to), { recursive: true });
  if (!(await lstat(from)).isSymbolicLink()) {
    await copyFile(from, to);
    return undefined;
  }
  const target = await readlink(from);
  await symlink(target, to);
  return path.relative('/', path.resolve('/', path.dirname(file), target));
}

/** The packages' files that an ELF file needs at once; none for a script. */
async function neededFiles(file: string, packagesRoot: string): Promise<string[]> {
  const needs = elfNeeds(await readFile(file));
  if (needs === undefined) return [];
  const libraries = await Promise.all(needs.libraries.map((name) => findLibrary(name, packagesRoot)));
  // The loader is named by a path of the merged /usr, where /lib64 is a link that no package brings.
  if (needs.interpreter !== undefined) libraries.push(`usr${needs.interpreter}`);
  return libraries;
}

async function findLibrary(soname: string, packagesRoot: string): Promise<string> {
  for (const folder of libraryFolders) {
    const file = path.join(folder, soname);
    if ((await lstat(path.join(packagesRoot, file)).catch(() => undefined)) !== undefined) return file;
  }
  throw new Error(`no package of the ramdisk has the library ${soname}`);
}

async function matching(packagesRoot: string, name: string): Promise<string[]> {
  const folder = path.dirname(name);
  const [start = '', end = ''] = path.basename(name).split('*');
  if (!name.includes('*')) return [name];
  const names = await readdir(path.join(await realpath(packagesRoot), folder));
  return names
    .filter((candidate) => candidate.startsWith(start) && candidate.endsWith(end))
    .sort()
    .map((candidate) => path.join(folder, candidate));
}
