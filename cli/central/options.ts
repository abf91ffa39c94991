import { type Command, InvalidArgumentError } from 'commander';
import { durationMs, durationPattern } from '#contract/durations.ts';

/** Gives a command of the host the option that all of them need. */
export function hostFolder(command: Command): Command {
  return command.requiredOption('--directory <folder>', "the centre's directory");
}

/** Reads `10.79.0.2:8443`, `[::1]:8443` or `localhost:0`. */
export function listenAddress(value: string): { host: string; port: number } {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(value);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || port > 65_535) throw new InvalidArgumentError('Write HOST:PORT.');
  return { host, port };
}

/** Reads a duration such as `24h` into milliseconds. */
export function duration(value: string): number {
  if (!new RegExp(durationPattern).test(value))
    throw new InvalidArgumentError('Write a whole number and ms, s, m or h, e.g. 24h.');
  return durationMs(value);
}

/** Reads a text that must look like `pattern`. */
export function text(pattern: RegExp): (value: string) => string {
  return (value) => {
    if (pattern.test(value)) return value;
    throw new InvalidArgumentError(`It must match ${pattern.source}.`);
  };
}

export function integer(value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError('Write a whole number.');
  return Number(value);
}

/** Collects an option that may be given several times. */
export function collect(value: string, before: readonly string[]): string[] {
  return [...before, value];
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
