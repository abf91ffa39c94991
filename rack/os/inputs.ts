import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { DebianPackage } from '#base/debian.ts';

const sharedSources = ['base/pe.ts', 'base/uki.ts', 'ramdisk/image/cpio.ts', 'ramdisk/image/elf.ts'];
const ownSources = [import.meta.dirname, ...sharedSources.map(inProject)];

/** One digest over all that decides the bytes of a disk: its parameters, the packages, and our own sources. */
export function inputKey(parameters: object, packages: readonly DebianPackage[]): string {
  const hash = createHash('sha256').update(JSON.stringify(parameters));
  for (const { name, sha256 } of packages) hash.update(`${name} ${sha256}\n`);
  for (const source of ownSources.flatMap(filesIn))
    hash.update(`${path.basename(source)}\n`).update(readFileSync(source));
  return hash.digest('hex');
}

function filesIn(source: string): string[] {
  if (source.endsWith('.ts')) return [source];
  return readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .toSorted();
}

function inProject(name: string): string {
  return path.join(import.meta.dirname, '../..', name);
}
