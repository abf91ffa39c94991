import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { writeDurably } from '#base/durableFile.ts';
import type { Apt } from './apt.ts';
import { parseSimulation } from './packages.ts';

/**
 * `name=version` of the packages and of all that they depend on. apt takes two seconds to find them, so what it found is kept as
 * long as the package index is the same.
 */
export async function closureOf(apt: Apt, packages: readonly string[]): Promise<string[]> {
  const directory = path.join(apt.settings.directory, 'closures');
  const file = path.join(directory, `${await keyOf(apt, packages)}.json`);
  const kept = await readFile(file, 'utf8').catch(() => undefined);
  if (kept !== undefined) return JSON.parse(kept) as string[];
  const found = parseSimulation(await apt.get(['install', '--simulate', '--yes', ...packages]));
  await mkdir(directory, { recursive: true });
  await writeDurably(file, JSON.stringify(found));
  return found;
}

async function keyOf(apt: Apt, packages: readonly string[]): Promise<string> {
  const lists = path.join(apt.settings.directory, 'state/lists');
  const hash = createHash('sha256').update(JSON.stringify(packages));
  for (const name of (await readdir(lists)).sort()) {
    const { size, mtimeMs } = await stat(path.join(lists, name));
    hash.update(`\n${name} ${size} ${mtimeMs}`);
  }
  return hash.digest('hex').slice(0, 32);
}
