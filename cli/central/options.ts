import { type Command, InvalidArgumentError, Option } from 'commander';
import { durationMs, durationPattern } from '#contract/durations.ts';

/** Gives a command of the host the option that all of them need. */
export function hostFolder(command: Command): Command {
  return command.requiredOption('--directory <folder>', "the centre's directory");
}

/** Where the books are kept; the directory remembers it. */
export function databaseOption(): Option {
  return new Option(
    '--database <url>',
    'keep the books in PostgreSQL, e.g. postgres://railhead@db/railhead or postgres:///railhead?host=/run/postgresql; the password in PGPASSFILE',
  );
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
    throw new InvalidArgumentError('Write a whole number and ms, s, m or h, e.g. 24h; 99999h at most.');
  return durationMs(value);
}

/** An option for how long something is valid; `byDefault` as one would write it, e.g. `24h`. */
export function validOption(byDefault: string): Option {
  const option = new Option('--valid <duration>', 'how long it is valid: a whole number and ms, s, m or h');
  return option.argParser(duration).default(duration(byDefault), byDefault);
}

/** Reads for how long something is kept, `90d` or `forever`, into days. */
export function keptDays(value: string): number {
  if (value === 'forever') return Number.POSITIVE_INFINITY;
  if (!/^[1-9]\d{0,4}d$/.test(value))
    throw new InvalidArgumentError('Write a number of days, e.g. 90d, or forever.');
  return Number.parseInt(value, 10);
}

/** An option for an address to listen on. */
export function listenOption(flags: string, description: string, byDefault: string): Option {
  return new Option(flags, description).argParser(listenAddress).default(listenAddress(byDefault), byDefault);
}

/** Reads a base URL of the centre. */
export function httpUrl(value: string): string {
  if (/^https?:\/\//.test(value) && URL.canParse(value)) return value;
  throw new InvalidArgumentError('Write a URL that begins with https:// or http://.');
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

/** Collects an option that may be given several times; without a default, so that a required one must be given. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
