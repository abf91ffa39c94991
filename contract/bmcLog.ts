import { createHash } from 'node:crypto';
import Type, { type Static } from 'typebox';

/** One entry of a BMC's own event log (SEL, IML, …), cut to what a timeline takes. */
export const BmcLogEntry = Type.Object(
  {
    /** As the BMC numbers it: the same number may come again once the log was cleared. */
    id: Type.String({ maxLength: 128 }),
    severity: Type.Optional(Type.Enum(['OK', 'Warning', 'Critical'])),
    message: Type.String({ maxLength: 512 }),
    sensor: Type.Optional(Type.String({ maxLength: 128 })),
    /** When it happened as the BMC writes it; its clock may be years off. */
    created: Type.Optional(Type.String({ maxLength: 64 })),
  },
  { additionalProperties: false },
);
export type BmcLogEntry = Static<typeof BmcLogEntry>;

/** What a site keeps of a log, so that each entry is told once. */
export interface LogMark {
  /** Which log: its path, or `sel` by IPMI. */
  log: string;
  /** How many entries it had. */
  count: number;
  /** Fingerprints of entries that were there, the newest first. */
  seen: string[];
  /** Whether the BMC lists the oldest first. */
  oldestFirst?: boolean;
  /** Whether it can be read from any entry on, as its own links to further pages do (`$skip`). */
  skips?: boolean;
  /** By IPMI: what the log said of itself. While it says the same, nothing is new. */
  state?: string;
}

/** What a reading of a log came to. */
export interface LogReading {
  mark: LogMark;
  /** What was not there the last time, the oldest first; empty at the first reading. */
  fresh: BmcLogEntry[];
  /** Nothing of what was there is there any more. */
  cleared: boolean;
}

/** More than the logs of BMCs hold (IPMI SELs: a few hundred to 4096 entries). */
export const mostSeen = 4096;

/**
 * What is new in `entries`, the newest first, of a log with `count` entries in all. An entry is known by what it says, not by its number or
 * time: numbers come again, and clocks jump. `whole`: these are all entries of the log.
 */
export function readingOf(
  log: string,
  { entries, count, whole }: { entries: readonly BmcLogEntry[]; count: number; whole: boolean },
  before: LogMark | undefined,
): LogReading {
  const prints = entries.map(fingerprint);
  const mark = before?.log === log ? before : undefined;
  const known = new Set(mark?.seen);
  const fresh =
    mark === undefined ? [] : entries.filter((_, at) => !known.has(prints[at] as string)).reverse();
  const seen = whole ? prints : [...new Set([...prints, ...known])];
  return {
    mark: { log, count, seen: seen.slice(0, mostSeen) },
    fresh,
    cleared: (mark?.count ?? 0) > 0 && whole && !prints.some((print) => known.has(print)),
  };
}

/** What an entry is known by. A site keeps thousands: 48 bits are enough to tell those of one log apart. */
export function fingerprint({ id, message, sensor = '', created = '' }: BmcLogEntry): string {
  const moment = Date.parse(created);
  const when = Number.isNaN(moment) ? created : String(moment);
  return createHash('sha256').update([id, when, sensor, message].join('\0')).digest('base64url').slice(0, 8);
}

/** In one line, for timelines. */
export function logEntryText({ severity, message, sensor, created }: BmcLogEntry): string {
  const about = [severity, sensor].filter((word) => word !== undefined).join(', ');
  const when = created === undefined ? '' : ` (${created} by the BMC's clock)`;
  return `the BMC's log: ${message}${about === '' ? '' : ` [${about}]`}${when}`;
}
