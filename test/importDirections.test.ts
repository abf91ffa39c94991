import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Who may import whom, folder by folder; imports within a folder are free. */
const allowed: Record<string, readonly string[]> = {
  contract: [],
  base: [],
  ipxe: ['contract'],
  grub: ['contract'],
  doors: ['contract', 'base'],
  bootserver: ['doors', 'ipxe', 'grub', 'contract', 'base'],
  console: ['contract', 'base'],
  redfish: ['console', 'contract', 'base'],
  ipmi: ['console', 'contract', 'base'],
  secureboot: ['contract', 'base'],
  cache: ['contract', 'base'],
  ramdisk: ['contract', 'base'],
  central: ['doors', 'contract', 'base'],
  library: ['central', 'contract', 'base'],
  agent: [
    'bootserver',
    'redfish',
    'ipmi',
    'console',
    'cache',
    'ramdisk',
    'ipxe',
    'grub',
    'doors',
    'contract',
    'base',
  ],
  cli: [
    'agent',
    'central',
    'rack',
    'bootserver',
    'redfish',
    'ipmi',
    'console',
    'cache',
    'ramdisk',
    'ipxe',
    'grub',
    'doors',
    'contract',
    'base',
    'secureboot',
  ],
  rack: [
    'agent',
    'central',
    'cli',
    'bootserver',
    'redfish',
    'ipmi',
    'console',
    'cache',
    'ramdisk',
    'ipxe',
    'grub',
    'doors',
    'contract',
    'base',
    'secureboot',
  ],
};

const files = Object.keys(allowed).flatMap((folder) => globSync(`${folder}/**/*.ts`));

test.each(files)('%s imports only what its folder may', (file) => {
  const folder = file.split('/')[0] ?? '';
  const permitted = [folder, ...(allowed[folder] ?? [])];
  expect(importedFolders(file).filter((target) => !permitted.includes(target))).toEqual([]);
});

test('no import climbs out of its folder by a relative path', () => {
  const climbing = files.filter((file) => importSpecifiers(file).some((name) => climbsOut(file, name)));
  expect(climbing).toEqual([]);
});

// Of node:util what tells a proxy, which must be known before it is touched.
test('contract imports TypeBox, node:crypto and node:util only', () => {
  const foreign = globSync('contract/**/*.ts')
    .flatMap(importSpecifiers)
    .filter((name) => !name.startsWith('.'));
  expect(foreign.filter((name) => !/^typebox(\/|$)|^node:(crypto|util)$/.test(name))).toEqual([]);
});

function importSpecifiers(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  const found = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\b[^;'"]*?from\s+'([^']+)'|\bimport\('([^']+)'\)|(?:^|\n)import\s+'([^']+)'/g,
  );
  return Array.from(found, (match) => match[1] ?? match[2] ?? match[3] ?? '');
}

function importedFolders(file: string): string[] {
  return importSpecifiers(file).flatMap((name) =>
    name.startsWith('#') ? [name.slice(1).split('/')[0] ?? ''] : [],
  );
}

function climbsOut(file: string, specifier: string): boolean {
  const ups = specifier.match(/\.\.\//g)?.length ?? 0;
  return specifier.startsWith('.') && ups >= file.split('/').length - 1 && ups > 0;
}
