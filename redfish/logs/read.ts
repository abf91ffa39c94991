import { type BmcLogEntry, fingerprint, type LogMark, type LogReading, readingOf } from '#contract/bmcLog.ts';
import type { RedfishClient } from '../client.ts';
import { asObject, asText, type JsonObject, linkOf } from '../json.ts';
import { logEntryOf } from './entry.ts';

/** A log of more pages is left there: nobody waits for the rest of a log. */
const mostPages = 100;
/** More entries than any log has; what goes on beyond is no log. */
const mostEntries = 16_384;
/** Entries that are links alone are read one by one, so far back at most. */
const mostSingle = 64;

/**
 * Reads what is new in the log at `entries`. The first reading tells nothing, and remembers what it takes to know the newest entry again. Later a
 * BMC that lists the newest first is read until something known comes; one that skips on demand, from the last known entry on; else the whole
 * log is read.
 * @throws BmcRefusal and as `RedfishClient.get`
 */
export async function readLog(
  client: RedfishClient,
  entries: string,
  before: LogMark | undefined,
): Promise<LogReading> {
  const mark = before?.log === entries ? before : undefined;
  const features = asObject((await client.root()).ProtocolFeaturesSupported);
  const skips = features.TopSkipQuery === true || mark?.skips === true;
  const isKnown = knownBy(mark);
  if (skips && mark?.oldestFirst === true && mark.count > 1) {
    const end = await readPages(client, fromOn(entries, mark.count - 1), never);
    // Else it was cleared, or goes round in a circle.
    const [first] = end.pages;
    const count = Math.max(end.count, mark.count - 1 + end.pages.length);
    if (first !== undefined && isKnown(first)) return reading(entries, { ...end, count, ended: false }, mark);
  }
  const start = startOf(entries, features);
  const read =
    mark === undefined
      ? await readFirst(client, entries, start, skips)
      : await readPages(client, start, (page) => !isOldestFirst(page) && page.some(isKnown));
  return read.links.length > 0 ? readSingly(client, entries, read, mark) : reading(entries, read, mark);
}

/** Old logs have hundreds of pages: at first contact one of them will do, where the newest entry is on it or can be skipped to. */
async function readFirst(
  client: RedfishClient,
  entries: string,
  start: string,
  skips: boolean,
): Promise<Pages> {
  const page = await readPages(client, start, (found) => found.length > 0);
  if (page.ended || page.links.length > 0 || !isOldestFirst(page.pages)) return page;
  if (!(skips || page.skips) || page.count <= page.pages.length) return readPages(client, start, never);
  const end = await readPages(client, fromOn(entries, page.count - 1), never);
  return { ...end, count: page.count, ended: false, skips: true };
}

function fromOn(entries: string, at: number): string {
  return `${entries}?$skip=${at}`;
}

interface Pages {
  /** In the BMC's order. */
  pages: BmcLogEntry[];
  /** Members that are links alone. */
  links: string[];
  count: number;
  /** The last page was read. */
  ended: boolean;
  /** Links to further pages say from which entry on. */
  skips: boolean;
}

/** Members that are written out save a request for each, where the BMC can do that (DSP0266, `$expand`). */
function startOf(entries: string, features: JsonObject): string {
  return asObject(features.ExpandQuery).NoLinks === true ? `${entries}?$expand=.` : entries;
}

type IsKnown = (entry: BmcLogEntry) => boolean;

const never = () => false;

function knownBy(mark: LogMark | undefined): IsKnown {
  const seen = new Set(mark?.seen);
  return (entry) => seen.has(fingerprint(entry));
}

/** Page after page, until one is `enough`. */
async function readPages(
  client: RedfishClient,
  first: string,
  enough: (page: readonly BmcLogEntry[]) => boolean,
): Promise<Pages> {
  const read: Pages = { pages: [], links: [], count: 0, ended: false, skips: false };
  const had = new Set<string>();
  let next: string | undefined = first;
  for (let page = 0; page < mostPages && next !== undefined && had.size < mostEntries; page++) {
    const body: JsonObject = (await client.get(next)).body;
    const found = membersNotIn(had, body);
    read.pages.push(...found.entries);
    read.links.push(...found.links);
    const told = body['Members@odata.count'];
    read.count = typeof told === 'number' ? told : read.pages.length + read.links.length;
    next = nextOf(body);
    if (next !== undefined && /[?&]\$skip=\d/.test(next)) read.skips = true;
    if (next === undefined) read.ended = true;
    // Pages that go in a circle, or on and on with the same, bring nothing.
    else if (found.entries.length + found.links.length === 0 || enough(found.entries)) break;
  }
  return read;
}

function nextOf(body: JsonObject): string | undefined {
  return asText(body['Members@odata.nextLink']) ?? linkOf(body['Members@odata.nextLink']);
}

/** Each entry once, though a BMC may write it on two pages. */
function membersNotIn(
  had: Set<string>,
  { Members }: JsonObject,
): { entries: BmcLogEntry[]; links: string[] } {
  const entries: BmcLogEntry[] = [];
  const links: string[] = [];
  for (const member of Array.isArray(Members) ? Members : []) {
    const entry = logEntryOf(asObject(member));
    const link = linkOf(member);
    const print = entry === undefined ? link : fingerprint(entry);
    if (print === undefined || had.has(print) || had.size >= mostEntries) continue;
    had.add(print);
    if (entry !== undefined) entries.push(entry);
    else if (link !== undefined) links.push(link);
  }
  return { entries, links };
}

/** What is older than something known is not new, whether it was read before or not. */
function reading(
  entries: string,
  { pages, count, ended, skips }: Pages,
  mark: LogMark | undefined,
): LogReading {
  const oldestFirst = isOldestFirst(pages);
  const newestFirst = oldestFirst ? pages.toReversed() : pages;
  const known = newestFirst.findIndex(knownBy(mark));
  const read = known < 0 ? newestFirst : newestFirst.slice(0, known + 1);
  const told = readingOf(entries, { entries: read, count, whole: ended && known < 0 }, mark);
  const canSkip = skips || mark?.skips === true;
  return { ...told, mark: { ...told.mark, oldestFirst, ...(canSkip && { skips: true }) } };
}

/** By the numbers where there are any, since the clock may have been set back; else by the times. */
function isOldestFirst(entries: readonly BmcLogEntry[]): boolean {
  const [first, last] = [entries[0], entries.at(-1)];
  if (first === undefined || last === undefined) return true;
  const numbers = [first.id, last.id].map((id) => (/^\d{1,15}$/.test(id) ? Number(id) : Number.NaN));
  const [from = 0, to = 0] = numbers.some(Number.isNaN)
    ? [first.created, last.created].map((time) => Date.parse(time ?? ''))
    : numbers;
  return !(from > to);
}

/** Backwards from the newest until a known one comes; at the first reading the newest alone, to know it again. */
async function readSingly(
  client: RedfishClient,
  entries: string,
  { links, count }: Pages,
  mark: LogMark | undefined,
): Promise<LogReading> {
  const newestFirst = links.toSorted((one, other) => numberOf(other) - numberOf(one));
  const isKnown = knownBy(mark);
  const read: BmcLogEntry[] = [];
  let met = false;
  for (const link of newestFirst.slice(0, mark === undefined ? 1 : mostSingle)) {
    const entry = logEntryOf((await client.get(link)).body);
    if (entry === undefined) continue;
    met = isKnown(entry);
    if (met) break;
    read.push(entry);
  }
  const { cleared: _, ...told } = readingOf(entries, { entries: read, count, whole: false }, mark);
  return { ...told, cleared: mark !== undefined && mark.count > 0 && !met && read.length >= count };
}

function numberOf(link: string): number {
  return Number(/(\d{1,15})\/?$/.exec(link)?.[1] ?? 0);
}
