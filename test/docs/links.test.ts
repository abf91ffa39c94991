import { existsSync, globSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { pages } from './pages.ts';

/** Links that lead nowhere in the checkout: to no file, or to no heading of a page. */
function brokenLinks(file: string, text: string): string[] {
  const links = Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), ([, link = '']) => link);
  return links.filter((link) => !/^https?:/.test(link) && !resolves(file, link));
}

function resolves(file: string, link: string): boolean {
  const [target = '', heading] = link.split('#');
  const page = target === '' ? file : path.join(path.dirname(file), target);
  if (!existsSync(page)) return false;
  return heading === undefined || headings(pages.get(page) ?? '').includes(heading);
}

/** As forges make an anchor of a heading: without punctuation, in lower case, a hyphen for each space. */
function headings(text: string): string[] {
  return Array.from(text.matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  );
}

test.each([...pages])('every link of %s leads somewhere', (file, text) => {
  expect(brokenLinks(file, text)).toEqual([]);
});

test('README leads to every page for operators', () => {
  const listed = pages.get('README.md') ?? '';
  const missing = [...pages.keys()].filter(
    (file) => /^docs\/[^/]*$/.test(file) && !listed.includes(`(${file})`),
  );
  expect(missing).toEqual([]);
});

test('CONTRIBUTING says what each folder of code is for', () => {
  const folders = new Set(
    globSync('*/**/*.ts', { exclude: ['node_modules'] }).map((file) => file.split('/')[0]),
  );
  const listed = Array.from(
    (pages.get('CONTRIBUTING.md') ?? '').matchAll(/^\| `(\w+)\/` \|/gm),
    ([, name]) => name,
  );
  expect([...folders].filter((folder) => !listed.includes(folder))).toEqual([]);
});

test.each([...pages])('no merge is left half-done in %s', (_file, text) => {
  expect(text).not.toMatch(/^(<{7}|={7}|>{7})( |$)/m);
});
