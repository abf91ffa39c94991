import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { fromWireError, RailheadError } from '#contract/errors.ts';
import { imagePath } from './imagePath.ts';
import type { LocalAgent, ShownImage } from './localAgent.ts';
import { imageArgument, opened, withFormat } from './options.ts';
import { type ProgressBar, progressBar } from './progressBar.ts';
import { printImage } from './show.ts';

const everyMs = 250;

/** `pull` and `verify`: the agent does it, and the command waits and shows how far it is. */
export function addWatched(cache: Command): void {
  addOne(cache, 'pull', 'have an image here that the catalog knows, or try a failed one again now', pulled);
  addOne(cache, 'verify', 'hash an image again, from the disk; a damaged one goes to quarantine', verified);
}

type Ended = (before: ShownImage, now: ShownImage, bar: ProgressBar) => boolean;

function addOne(cache: Command, name: string, description: string, isEnded: Ended): void {
  withFormat(
    cache
      .command(name)
      .argument(...imageArgument)
      .description(description)
      .option('--no-wait', 'do not wait for its end'),
  ).action(async (image: string, _options, command: Command) => {
    const { options, agent } = await opened<Parameters<typeof printImage>[1] & { wait: boolean }>(command);
    const before = await agent.get<ShownImage>(imagePath(image));
    const begun = await agent.post<ShownImage>(imagePath(before.digest, name));
    printImage(options.wait ? await watch(agent, before, isEnded) : begun, options);
  });
}

/** @throws RailheadError the error of its row, when it failed */
async function watch(agent: LocalAgent, before: ShownImage, isEnded: Ended): Promise<ShownImage> {
  const bar = progressBar(before.ref);
  try {
    for (;;) {
      const now = await agent.get<ShownImage>(imagePath(before.digest));
      if (now.state === 'failed' && now.error !== undefined) throw fromWireError(now.error);
      if (isEnded(before, now, bar)) return now;
      await sleep(everyMs);
    }
  } finally {
    bar.end();
  }
}

function pulled(_before: ShownImage, now: ShownImage, bar: ProgressBar): boolean {
  if (now.state === 'absent' || now.state === 'evicting') throw gone(now);
  bar.show(now.receivedBytes ?? 0, now.sizeBytes);
  return now.state === 'ready';
}

function verified(before: ShownImage, now: ShownImage, bar: ProgressBar): boolean {
  if (now.state !== 'ready') throw gone(now);
  bar.show(now.verifiedBytes ?? 0, now.sizeBytes);
  if (now.verifyError !== undefined) throw fromWireError(now.verifyError);
  return now.verifiedBytes === undefined && now.verifiedAt !== before.verifiedAt;
}

function gone({ ref, digest, state }: ShownImage): RailheadError {
  return new RailheadError('INVALID_STATE', `${ref} is ${state} now: something else changed it`, {
    digest,
    state,
  });
}
