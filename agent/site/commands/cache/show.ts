import type { Command } from 'commander';
import { imagePath } from './imagePath.ts';
import type { ShownImage } from './localAgent.ts';
import { type CacheOptions, imageArgument, opened, withFormat } from './options.ts';
import { imageText } from './print.ts';

export function addShow(cache: Command): void {
  withFormat(
    cache
      .command('show')
      .argument(...imageArgument)
      .description('one image: state, last use, last verification, who wants it'),
  ).action(async (image: string, _options, command: Command) => {
    const { options, agent } = await opened(command);
    printImage(await agent.get<ShownImage>(imagePath(image)), options);
  });
}

export function printImage(image: ShownImage, { format }: CacheOptions): void {
  const lines = format === 'json' ? [JSON.stringify(image, null, 2)] : imageText(image);
  process.stdout.write(`${lines.join('\n')}\n`);
}
