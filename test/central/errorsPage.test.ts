import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { errorStatus } from '#contract/errors.ts';

test('docs/errors.md lists every code with its status, and no other', () => {
  const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/errors.md'), 'utf8');
  const listed = Array.from(page.matchAll(/^\| `([A-Z_]+)` \| (\d+) \| (.+) \| (.+) \|$/gm), (row) => [
    row[1],
    Number(row[2]),
  ]);
  expect(Object.fromEntries(listed)).toEqual(errorStatus);
  expect(listed).toHaveLength(Object.keys(errorStatus).length);
});
