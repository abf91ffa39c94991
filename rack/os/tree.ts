import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** One file of a file system to be made; everything belongs to root. Paths are relative, without a leading slash. */
export type TreeEntry =
  | { kind: 'directory'; path: string; mode: number }
  | { kind: 'file'; path: string; mode: number; content: Buffer }
  | { kind: 'symlink'; path: string; target: string };

export function directory(at: string, mode = 0o755): TreeEntry {
  return { kind: 'directory', path: at, mode };
}

export function file(at: string, content: Buffer | string, mode = 0o644): TreeEntry {
  return { kind: 'file', path: at, mode, content: Buffer.from(content) };
}

export function symlink(at: string, target: string): TreeEntry {
  return { kind: 'symlink', path: at, target };
}

/** The files under a folder of ours, at the same paths; what begins with `#!` is executable. */
export function overlay(folder: string): TreeEntry[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const source = path.join(entry.parentPath, entry.name);
      const content = readFileSync(source);
      const mode = content.toString('latin1', 0, 2) === '#!' ? 0o755 : 0o644;
      return file(path.relative(folder, source), content, mode);
    });
}

/** The entries in a fixed order, parents first, with the directories that nobody named. */
export function completeTree(entries: readonly TreeEntry[]): TreeEntry[] {
  const byPath = new Map(entries.map((entry) => [entry.path, entry]));
  for (const entry of entries)
    for (const parent of parents(entry.path)) if (!byPath.has(parent)) byPath.set(parent, directory(parent));
  return [...byPath.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

function parents(at: string): string[] {
  const parts = at.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
