import { globSync, readFileSync } from 'node:fs';

/** What operators and newcomers read, by its path in the checkout. */
export const pages: ReadonlyMap<string, string> = new Map(
  ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...globSync('docs/**/*.md')].map((file) => [
    file,
    readFileSync(file, 'utf8'),
  ]),
);
