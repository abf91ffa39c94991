import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { bootQuirks, mergedQuirks, quirksFor } from '#contract/bootQuirks.ts';

test('docs/hardware.md has each quirk with what it does and its evidence, and no other', () => {
  const page = readFileSync('docs/hardware.md', 'utf8');
  const rows = page
    .slice(page.indexOf('## Quirks that are set'))
    .matchAll(/^\| `(\S+)` \| (.*) \| (.*) \|$/gm);
  const documented = [...rows].map(([, name, does, evidence]) => [name, { does, evidence }]);
  expect(documented).toEqual(Object.entries(bootQuirks));
});

test('a class has its own quirks and those of any, of all settings', () => {
  const [pool, node] = [{ any: ['option-66' as const] }, { ipxe: ['chain-ipxe' as const] }];
  expect(quirksFor('ipxe', pool, undefined, node)).toEqual(new Set(['option-66', 'chain-ipxe']));
  expect(quirksFor('bios-pxe', pool, node)).toEqual(new Set(['option-66']));
});

test('settings are merged without doubles, and nothing is nothing', () => {
  expect(mergedQuirks({ any: ['option-66'] }, { any: ['option-66', 'no-option-67'] })).toEqual({
    any: ['no-option-67', 'option-66'],
  });
  expect(mergedQuirks(undefined, {}, { any: [] })).toBeUndefined();
});
