import { RailheadError } from '#contract/errors.ts';

/**
 * Reads what an option collected as `name=value` pairs; undefined when it was not given.
 * @throws RailheadError INVALID_INPUT for a pair without a name or a value
 */
export function labelsIn(
  option: string,
  pairs: readonly string[] | undefined,
): Record<string, string> | undefined {
  return pairs === undefined ? undefined : Object.fromEntries(pairs.map((pair) => split(option, pair)));
}

function split(option: string, pair: string): [name: string, value: string] {
  const at = pair.indexOf('=');
  if (at > 0 && at < pair.length - 1) return [pair.slice(0, at), pair.slice(at + 1)];
  throw new RailheadError('INVALID_INPUT', `${option}: write NAME=VALUE, not ${pair}`, { path: option });
}
