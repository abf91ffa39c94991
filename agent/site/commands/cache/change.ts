import type { Command } from 'commander';
import { imagePath } from './imagePath.ts';
import type { ShownImage } from './localAgent.ts';
import { imageArgument, opened, withFormat } from './options.ts';
import { printImage } from './show.ts';

const changes = {
  pin: 'keep an image here whatever room is needed, and pull it again when it is lost; outlives restarts',
  unpin: 'end that',
  evict: 'remove an image that nobody wants, forget a damaged one, or end a pull that was asked for here',
};

/** `pin`, `unpin`, `evict`: done when the agent answers. */
export function addChanges(cache: Command): void {
  for (const [name, description] of Object.entries(changes))
    withFormat(
      cache
        .command(name)
        .argument(...imageArgument)
        .description(description),
    ).action(async (image: string, _options, command: Command) => {
      const { options, agent } = await opened(command);
      printImage(await agent.post<ShownImage>(imagePath(image, name)), options);
    });
}
