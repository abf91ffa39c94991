import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { systemCode } from '#base/errors.ts';
import { visible } from '#base/visible.ts';
import { RailheadError } from '#contract/errors.ts';
import type { ShownImage } from './localAgent.ts';
import { type CacheOptions, opened, withFormat } from './options.ts';
import { progressBar } from './progressBar.ts';
import { printImage } from './show.ts';

export function addImport(cache: Command): void {
  withFormat(
    cache
      .command('import')
      .argument('<file>', 'the artifact as the catalog has it, e.g. on a USB stick')
      .description(
        'take an image from a file instead of its source: only what the catalog’s digest and signer vouch for',
      )
      .option(
        '--digest <sha256>',
        'refuse the file unless it is this one; without it any image that the site was told of',
      ),
  ).action(async (file: string, _options, command: Command) => {
    const { options, agent } = await opened<CacheOptions & { digest?: string }>(command);
    const sizeBytes = await sizeOf(file);
    const digest = options.digest === undefined ? await hashed(file, sizeBytes) : digestOf(options.digest);
    const path = `/v1/cache/import?digest=${digest}&sizeBytes=${sizeBytes}`;
    const image = await agent.send<ShownImage>(path, counted(file, sizeBytes));
    process.stderr.write(checked(image));
    printImage(image, options);
  });
}

function digestOf(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  const expected = '64 hex digits';
  throw new RailheadError('INVALID_INPUT', `--digest: must be ${expected}`, { path: 'digest', expected });
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch((error: unknown) =>
    Promise.reject(unreadable(file, systemCode(error), error)),
  );
  // A pipe or a device may give bytes for ever, or none.
  if (!found.isFile()) throw unreadable(file, found.isDirectory() ? 'EISDIR' : 'EINVAL');
  return found.size;
}

/** The agent is told first which image it is: for one that it does not know it takes no byte, and moves nothing aside. */
async function hashed(file: string, size: number): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of counted(file, size, `sha256 of ${file}`)) hash.update(part);
  return hash.digest('hex');
}

/** The bytes of the file; how many have gone is shown meanwhile. */
async function* counted(file: string, size: number, label = file): AsyncGenerator<Buffer> {
  const bar = progressBar(label);
  let done = 0;
  try {
    for await (const part of createReadStream(file, { highWaterMark: 1024 * 1024 })) {
      yield part;
      done += part.length;
      bar.show(done, size);
    }
  } catch (error) {
    throw unreadable(file, systemCode(error), error);
  } finally {
    bar.end();
  }
}

function unreadable(file: string, reason = 'unknown', error?: unknown): RailheadError {
  const message = `cannot read ${file} (${reason}): give the file of an image`;
  return new RailheadError('INVALID_INPUT', message, { path: 'file', reason }, error);
}

function checked({ ref, digest }: ShownImage): string {
  return `${visible(ref)}: the sha256 of the file is ${digest}, as the centre's catalog told this site; it is not withdrawn, and its signature, where it has one, is by the signer's key\n`;
}
