import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { systemCode } from '#base/errors.ts';
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
    const query =
      options.digest === undefined ? '' : `?digest=${encodeURIComponent(options.digest.toLowerCase())}`;
    const image = await agent.send<ShownImage>(`/v1/cache/import${query}`, await bytesOf(file));
    process.stderr.write(checked(image));
    printImage(image, options);
  });
}

/** The bytes of the file; how many have gone is shown meanwhile. */
async function bytesOf(file: string): Promise<AsyncIterable<Buffer>> {
  const { size } = await stat(file).catch((error: unknown) => {
    const reason = systemCode(error) ?? 'unknown';
    throw new RailheadError(
      'INVALID_INPUT',
      `cannot read ${file} (${reason})`,
      { path: 'file', reason },
      error,
    );
  });
  return counted(createReadStream(file, { highWaterMark: 1024 * 1024 }), file, size);
}

async function* counted(bytes: AsyncIterable<Buffer>, label: string, size: number): AsyncGenerator<Buffer> {
  const bar = progressBar(label);
  let done = 0;
  try {
    for await (const part of bytes) {
      yield part;
      done += part.length;
      bar.show(done, size);
    }
  } finally {
    bar.end();
  }
}

function checked({ ref, digest }: ShownImage): string {
  return `${ref}: the sha256 of the file is ${digest}, as the centre's catalog told this site; it is not withdrawn, and its signature, where it has one, is by the signer's key\n`;
}
