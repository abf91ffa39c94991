import { RailheadError } from '#contract/errors.ts';

/** For how many days the centre keeps what is over; `Infinity`: for good. */
export interface KeepDays {
  /** What happened to machines; of a workflow, all of it, from its end on. Acknowledged alarms too. */
  events: number;
  /** What recorded consoles printed. */
  console: number;
  /** Workflows that have ended, with their steps and operations, and joins of machines: no shorter than `events`. */
  workflows: number;
  /** The record of changes. */
  audit: number;
}

const defaults = { events: 90, console: 30, workflows: 365, audit: Number.POSITIVE_INFINITY };

/**
 * The times to keep by: those given, and the defaults. A console's output is kept no longer than events, and a workflow no shorter, unless
 * that was asked for.
 * @throws RailheadError INVALID_CONFIG for what is neither a whole number of days, 1 at least, nor Infinity; for workflows that are to go
 *   before their events
 */
export function checkKeep(given: Partial<KeepDays> = {}): KeepDays {
  for (const [name, days] of Object.entries(given)) {
    if (!(name in defaults)) throw unusable(name, 'there is no such time to keep by');
    if (days !== Number.POSITIVE_INFINITY && !(Number.isSafeInteger(days) && days >= 1))
      throw unusable(name, 'write a whole number of days, 1 at least, or Infinity');
  }
  const { events, audit } = { ...defaults, ...given };
  const console = given.console ?? Math.min(defaults.console, events);
  const workflows = given.workflows ?? Math.max(defaults.workflows, events);
  if (workflows < events) throw unusable('workflows', 'keep workflows at least as long as their events');
  return { events, console, workflows, audit };
}

const dayMs = 24 * 3_600_000;

/** What is older than `days` at `now` (milliseconds of the epoch) is from before this time; undefined: nothing is. */
export function cutoff(days: number, now: number): string | undefined {
  const before = now - days * dayMs;
  return before > 0 ? new Date(before).toISOString() : undefined;
}

/** The times as an operator writes them, for the log. */
export function describeKeep(keep: KeepDays): Record<string, string> {
  return Object.fromEntries(
    Object.entries(keep).map(([name, days]) => [name, Number.isFinite(days) ? `${days}d` : 'forever']),
  );
}

function unusable(name: string, message: string): RailheadError {
  return new RailheadError('INVALID_CONFIG', `keep.${name}: ${message}`, { path: `keep.${name}` });
}
