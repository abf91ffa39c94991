import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { faultNames } from '#rack/bmc/faults.ts';

test('the page of the rack lists every fault', () => {
  const rows = readFileSync('docs/rack.md', 'utf8').matchAll(/^\| `([a-z0-9-]+)` \| .*\|$/gm);
  const listed = Array.from(rows, (row) => row[1]).filter((name) => !name?.startsWith('rh-'));
  expect(listed.sort()).toEqual([...faultNames].sort());
});
