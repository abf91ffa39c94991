import { globSync } from 'node:fs';
import { cp, lstat, mkdir, readlink } from 'node:fs/promises';
import path from 'node:path';
import type { ModuleTree } from './moduleTree.ts';

const folder = 'usr/lib/firmware';

/** Copies those firmware files that a staged module asks for and that the unpacked packages have. Returns how many. */
export async function stageFirmware(tree: ModuleTree, packagesRoot: string, stage: string): Promise<number> {
  const from = path.join(packagesRoot, folder);
  const names = new Set([...tree.modules.values()].flatMap(({ firmware }) => firmware));
  const files = [...names].flatMap((name) => globSync(name, { cwd: from })).sort();
  for (const file of files) await copyWithTarget(file, from, path.join(stage, folder));
  return files.length;
}

/** Many names are links to the newest version of a file. */
async function copyWithTarget(file: string, from: string, to: string): Promise<void> {
  const source = path.join(from, file);
  const entry = await lstat(source);
  if (entry.isDirectory()) return;
  await mkdir(path.dirname(path.join(to, file)), { recursive: true });
  await cp(source, path.join(to, file), { verbatimSymlinks: true });
  if (entry.isSymbolicLink())
    await copyWithTarget(path.join(path.dirname(file), await readlink(source)), from, to);
}
