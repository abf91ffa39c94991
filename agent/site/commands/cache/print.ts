import { visible } from '#base/visible.ts';
import type { CacheDetail } from '#cache/operator.ts';
import type { CacheListing, ShownImage } from './localAgent.ts';

/** `1.5 GiB`; a size that nobody knows is a dash. */
export function inUnits(bytes: number | undefined): string {
  if (bytes === undefined) return '-';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** The list as text: a line per image, then what the cache takes and what ails it. */
export function listText({ images, heldBytes, quotaBytes, troubles, scrub }: CacheListing): string[] {
  const rows = images
    .toSorted((one, other) => (one.ref < other.ref ? -1 : 1))
    .map((image) => [image.ref, image.digest.slice(0, 12), image.state, sizeOf(image), notes(image)]);
  return [
    ...aligned([['REF', 'DIGEST', 'STATE', 'SIZE', ''], ...rows]),
    ...images.flatMap(({ ref, error }) => (error === undefined ? [] : [`${ref}: ${error.message}`])),
    `${inUnits(heldBytes)} of ${inUnits(quotaBytes)} are taken`,
    ...(scrub?.digest === undefined ? [] : [`reading again: ${scrub.digest.slice(0, 12)}`]),
    ...troubles.map(
      ({ text, at, times }) => `! ${text} (${times} times, last ${new Date(at).toISOString()})`,
    ),
  ].map(visible);
}

/** One image as text: a line per field. */
export function imageText(image: ShownImage): string[] {
  return Object.entries(image).map(([name, value]) =>
    visible(`${name}: ${typeof value === 'object' ? JSON.stringify(value) : value}`),
  );
}

function sizeOf({ state, sizeBytes, receivedBytes }: CacheDetail): string {
  return state === 'pulling' ? `${inUnits(receivedBytes)} of ${inUnits(sizeBytes)}` : inUnits(sizeBytes);
}

function notes(detail: CacheDetail): string {
  const { desired, pinned, pinnedHere, inUse, nextTryAt, verifiedBytes } = detail;
  return [
    pace(detail),
    desired ? 'desired' : undefined,
    pinnedHere ? 'pinned here' : pinned ? 'pinned by a deploy' : undefined,
    inUse ? 'in use' : undefined,
    verifiedBytes === undefined ? undefined : `verifying (${inUnits(verifiedBytes)})`,
    nextTryAt === undefined ? undefined : `next try ${nextTryAt}`,
  ]
    .filter((note) => note !== undefined)
    .join(', ');
}

/** How fast a pull is, and how long it takes still. */
function pace({ bytesPerSecond, etaSeconds }: CacheDetail): string | undefined {
  if (bytesPerSecond === undefined) return undefined;
  const rate = `${inUnits(bytesPerSecond)}/s`;
  return etaSeconds === undefined ? rate : `${rate}, ${inTime(etaSeconds)} left`;
}

/** `45 s`, `12 min`, `3 h 20 min`. */
export function inTime(seconds: number): string {
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function aligned(rows: readonly string[][]): string[] {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
