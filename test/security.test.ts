import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { cases } from './e2e/cases/index.ts';

const page = readFileSync('docs/security.md', 'utf8');

/** The rows of the tables that make claims: their last cell names what shows it. */
const claims = page
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .filter((cells) => cells.length === 4 && /`test\/|`npm run e2e/.test(cells[2] ?? ''))
  .map(([, claim = '', shown = '']) => ({ claim, shown }));

test('every claim of the security page names what shows it', () => {
  expect(claims.length).toBeGreaterThan(30);
  const tables = page.matchAll(/^\| .*(cannot|can|claim) \| shown by \|\n\| --- \| --- \|\n((?:\| .*\n)+)/gm);
  const rows = Array.from(tables, (table) => (table[2] ?? '').trimEnd().split('\n')).flat();
  expect(claims.length).toBe(rows.length);
});

test('each test that the security page names exists under that title', () => {
  const named = claims.flatMap(({ shown }) =>
    Array.from(shown.matchAll(/`(test\/[^`]+)` "([^"]+)"/g), ([, file = '', title = '']) => ({
      file,
      title,
    })),
  );
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter(({ file, title }) => !existsSync(file) || !hasTitle(file, title))).toEqual([]);
});

test('each end-to-end case that the security page names exists', () => {
  const named = Array.from(page.matchAll(/npm run e2e -- ([a-z-]+)/g), ([, name = '']) => name);
  expect(named.length).toBeGreaterThan(2);
  expect(named.filter((name) => !cases.some((one) => one.name === name))).toEqual([]);
});

/** Quotes as the source may write them. */
function hasTitle(file: string, title: string): boolean {
  const source = readFileSync(file, 'utf8');
  return source.includes(title) || source.includes(title.replaceAll("'", "\\'"));
}
