import { type BmcLogEntry, fingerprint, type LogMark, type LogReading, readingOf } from '#contract/bmcLog.ts';
import type { IpmiClient } from './client.ts';
import { fieldOf } from './fru.ts';

/** Old BMCs read their records one by one: nobody's operation waits longer for them. */
const listMs = 30_000;
/** No more entries are read at once, the newest. */
const mostRead = 64;
const log = 'sel';

/**
 * Reads what is new in the System Event Log (IPMI 2.0 §31). One command, as long as the log says that nothing was added; else as many of the
 * newest entries as were added, and the one before them, which tells whether the log was cleared or goes round in a circle. The first reading
 * tells nothing, and remembers the newest entry.
 * @throws RailheadError as the client
 */
export async function readSel(client: IpmiClient, mark: LogMark | undefined): Promise<LogReading> {
  const { state, count = mostRead } = parseSelInfo(await client.run(['sel', 'info'], { repeatable: true }));
  if (state !== undefined && mark?.state === state) return { mark, fresh: [], cleared: false };
  const added = mark === undefined ? 0 : Math.max(0, count - mark.count);
  const entries = await newestEntries(client, count, added + 1, mark);
  const reading = readingOf(log, { entries, count, whole: entries.length >= count }, mark);
  const next = state === undefined ? reading.mark : { ...reading.mark, state };
  const { fresh } = reading;
  return { ...reading, mark: next, fresh: fresh.length === 0 ? [] : await withNames(client, fresh) };
}

/** The newest first: `wanted`, and more of them when no known one is among these. */
async function newestEntries(
  client: IpmiClient,
  count: number,
  wanted: number,
  mark: LogMark | undefined,
): Promise<BmcLogEntry[]> {
  const known = new Set(mark?.seen);
  const isKnown = (entry: BmcLogEntry) => known.has(fingerprint(entry));
  const most = Math.min(count, mostRead);
  if (most === 0) return [];
  const some = await last(client, Math.min(wanted, most));
  const more = mark !== undefined && wanted < most && !some.some(isKnown) ? await last(client, most) : some;
  const end = more.findIndex(isKnown);
  return end < 0 ? more : more.slice(0, end + 1);
}

async function last(client: IpmiClient, count: number): Promise<BmcLogEntry[]> {
  return parseSel(await list(client, ['sel', 'list', 'last', String(count)], listMs)).toReversed();
}

function list(client: IpmiClient, command: readonly string[], timeoutMs: number): Promise<string> {
  return client.run(command, { repeatable: true, timeoutMs });
}

/** Without the names when the BMC takes too long for them. */
async function withNames(client: IpmiClient, fresh: readonly BmcLogEntry[]): Promise<BmcLogEntry[]> {
  const command = ['sel', 'elist', 'last', String(fresh.length)];
  const { stdout } = await client.attempt(command, { timeoutMs: listMs });
  const named = new Map(parseSel(stdout).map((entry) => [keyOf(entry), entry.sensor]));
  return fresh.map((entry) => {
    const sensor = named.get(keyOf(entry)) ?? entry.sensor;
    return sensor === undefined ? entry : { ...entry, sensor };
  });
}

function keyOf({ id, created = '', message }: BmcLogEntry): string {
  return [id, created, message].join('\n');
}

/** What `sel info` says that changes with each entry; no `state` where the BMC does not tell when it was written to last. */
export function parseSelInfo(text: string): { state?: string; count?: number } {
  const fields = new Map(text.split('\n').map(fieldOf));
  const [entries, added, deleted] = ['Entries', 'Last Add Time', 'Last Del Time'].map((name) =>
    fields.get(name),
  );
  const count = /^\d{1,6}$/.test(entries ?? '') ? Number(entries) : undefined;
  const tells = added !== undefined && !/not available/i.test(added);
  return {
    ...(tells && count !== undefined && { state: [count, added, deleted ?? ''].join(' / ') }),
    ...(count !== undefined && { count }),
  };
}

/**
 * The entries of `sel list` and `sel elist`: number, date, time (by the BMC's clock), sensor, event, direction, between bars. Lines that are
 * none are passed over.
 */
export function parseSel(text: string): BmcLogEntry[] {
  return text.split('\n').flatMap((line) => {
    const [id, date, time, sensor, ...rest] = line.split('|').map(plain);
    if (id === undefined || !/^[0-9a-f]{1,8}$/i.test(id) || time === undefined) return [];
    const [event, direction] = rest;
    const words = [event, direction].filter((word) => word !== undefined && word !== '');
    const message = (words.join(', ') || sensor || 'without a message').slice(0, 512);
    const severity = severityOf(event ?? '');
    return [
      {
        id,
        ...(severity !== undefined && { severity }),
        message: message.toWellFormed(),
        ...(sensor !== undefined && sensor !== '' && { sensor: sensor.slice(0, 128).toWellFormed() }),
        created: `${date} ${time}`.slice(0, 64).toWellFormed(),
      },
    ];
  });
}

/** A SEL has no severities; the thresholds' own names tell (IPMI 2.0 table 42-2). */
function severityOf(event: string): BmcLogEntry['severity'] {
  if (/non-recoverable|\bcritical/i.test(event) && !/non-critical/i.test(event)) return 'Critical';
  return /non-critical/i.test(event) ? 'Warning' : undefined;
}

function plain(field: string): string {
  return field.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim();
}
