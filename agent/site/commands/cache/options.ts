import { type Command, Option } from 'commander';
import type { LocalAgent } from './localAgent.ts';

export interface CacheOptions {
  config: string;
  format: 'table' | 'json';
}

/** `--format`, which every command has. */
export function withFormat(command: Command): Command {
  return command.addOption(
    new Option('--format <format>', 'how to print').choices(['table', 'json']).default('table'),
  );
}

export const imageArgument = [
  '<image>',
  'ref, digest, or the first eight or more digits of the digest',
] as const;

/** The options of a command below `bcd site`, with the agent that its configuration leads to. */
export async function opened<Options extends CacheOptions>(
  command: Command,
): Promise<{ options: Options; agent: LocalAgent }> {
  const options = command.optsWithGlobals<Options>();
  const { readConfig } = await import('../../config.ts');
  const { localSocket } = await import('../../localSocket.ts');
  const { localAgent } = await import('./localAgent.ts');
  return { options, agent: localAgent(localSocket(await readConfig(options.config))) };
}
