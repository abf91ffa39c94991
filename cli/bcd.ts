import { copyFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { Command } from 'commander';
import { buildExecutable } from '#agent/executable/build.ts';

const cacheDirectory = path.resolve(import.meta.dirname, '../.cache');

/** `railhead bcd …`: the daemon as sites and deployed OSes get it. */
export function bcdCommand(): Command {
  const command = new Command('bcd').description('the daemon as one executable file');
  command
    .command('build')
    .description("build bcd for this machine's architecture; prints the file, its sha256 and its size")
    .option('--out <file>', 'put it there')
    .action(build);
  return command;
}

async function build({ out }: { out?: string }): Promise<void> {
  const progress = (line: string) => void process.stderr.write(`${line}\n`);
  const { file, digest, sizeBytes } = await buildExecutable({ cacheDirectory, progress });
  if (out !== undefined) await replace(file, out);
  const mebibytes = (sizeBytes / 2 ** 20).toFixed(1);
  process.stdout.write(`${out ?? file}\nsha256:${digest} ${mebibytes} MiB\n`);
}

/** A file that is being run cannot be written to, but its name can be given to another. */
async function replace(file: string, out: string): Promise<void> {
  await copyFile(file, `${out}.new`);
  await rename(`${out}.new`, out);
}
