import { globSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from '#base/command.ts';

const projectRoot = path.resolve(import.meta.dirname, '../..');

/**
 * Writes the declarations of `entries`, and of all that they lead to, into `directory`, with relative imports of `.js` in the place of
 * the checkout's own. Returns which of the packages `known` they refer to.
 */
export async function declarationsOf(
  entries: readonly string[],
  directory: string,
  known: readonly string[],
): Promise<string[]> {
  await compile(entries, directory);
  const texts = await Promise.all(
    globSync('**/*.d.ts', { cwd: directory }).map((file) => rewrite(directory, file)),
  );
  return known.filter((name) => texts.some((text) => refersTo(text, name)));
}

async function compile(entries: readonly string[], directory: string): Promise<void> {
  // A configuration of the checkout's folder, where the compiler finds its imports and types.
  const folder = await mkdtemp(path.join(projectRoot, '.declarations-'));
  const config = {
    extends: '../tsconfig.json',
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: projectRoot,
      outDir: path.resolve(directory),
    },
    include: [],
    files: entries.map((entry) => path.join(projectRoot, entry)),
  };
  try {
    await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
    await run('tsc', ['--project', folder], { cwd: projectRoot });
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function rewrite(directory: string, file: string): Promise<string> {
  const whole = path.join(directory, file);
  const text = (await readFile(whole, 'utf8')).replaceAll(
    /(\bfrom |\bimport\()(['"])([.#][^'"]*)\.ts\2/g,
    (_, before: string, quote: string, target: string) =>
      `${before}${quote}${relativeTarget(file, target)}.js${quote}`,
  );
  await writeFile(whole, text);
  return text;
}

/** `#contract/errors` as `library/api.d.ts` reaches it: `../contract/errors`. */
function relativeTarget(file: string, target: string): string {
  if (!target.startsWith('#')) return target;
  const relative = path.relative(path.dirname(file), target.slice(1));
  return relative.startsWith('.') ? relative : `./${relative}`;
}

function refersTo(text: string, name: string): boolean {
  return ["'", '"'].some(
    (quote) => text.includes(`${quote}${name}${quote}`) || text.includes(`${quote}${name}/`),
  );
}
