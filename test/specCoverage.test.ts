import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Row {
  line: number;
  sentence: string;
  built: string;
  tests: string;
}

const rows = readFileSync('docs/spec-coverage.md', 'utf8')
  .split('\n')
  .flatMap((text, index): Row[] => {
    const cells = text.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
    const [, sentence = '', built = '', tests = ''] = cells;
    const isRow = cells.length >= 5 && sentence !== 'sentence' && !/^-+$/.test(sentence);
    return isRow ? [{ line: index + 1, sentence, built, tests }] : [];
  });

/** Every "`test/…` "title"" of a cell. */
function namedTests(cell: string): { file: string; title: string }[] {
  const found = cell.matchAll(/`(test\/[^`]+)` "([^"]+)"/g);
  return Array.from(found, ([, file = '', title = '']) => ({ file, title }));
}

/** Quotes as the source may write them. */
function contains(source: string, title: string): boolean {
  return source.includes(title) || source.includes(title.replaceAll("'", "\\'"));
}

test('the spec coverage page has rows', () => {
  expect(rows.length).toBeGreaterThan(3);
});

test('each row of the spec coverage page names a test, or says why there is nothing to test', () => {
  const silent = rows.filter(
    ({ tests }) => namedTests(tests).length === 0 && !/^(not specified|open): ./.test(tests),
  );
  expect(silent).toEqual([]);
});

test('each test that the spec coverage page names exists under that title', () => {
  const missing = rows.flatMap(({ line, tests }) =>
    namedTests(tests)
      .filter(({ file, title }) => !existsSync(file) || !contains(readFileSync(file, 'utf8'), title))
      .map((named) => ({ line, ...named })),
  );
  expect(missing).toEqual([]);
});

test('each file that the spec coverage page says something is built in exists', () => {
  const missing = rows.flatMap(({ line, built }) =>
    Array.from(built.matchAll(/`([\w.-]+\/[\w./-]+\.\w+)`/g), ([, file = '']) => file)
      .filter((file) => !existsSync(file))
      .map((file) => ({ line, file })),
  );
  expect(missing).toEqual([]);
});
