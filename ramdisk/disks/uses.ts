import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { ignore } from '#base/errors.ts';

/** Why a disk is not free: mounts, swap and holders (md, dm) of the disk and of its partitions, a phrase each. */
export async function usesOf(root: string, disk: string): Promise<string[]> {
  const directory = path.join(root, 'sys/block', disk);
  const partitions = (await readdir(directory)).filter((name) => name.startsWith(disk)).sort();
  const mounts = parseMounts(await textOf(path.join(root, 'proc/self/mountinfo')));
  const swaps = parseSwaps(await textOf(path.join(root, 'proc/swaps')));
  const places = [
    { name: disk, directory },
    ...partitions.map((name) => ({ name, directory: path.join(directory, name) })),
  ];
  const uses = await Promise.all(
    places.map(async (place) => {
      const number = await textOf(path.join(place.directory, 'dev'));
      const holders = (await readdir(path.join(place.directory, 'holders')).catch(ignore)) ?? [];
      return [
        ...(mounts.get(number.trim()) ?? []).map((where) => `${place.name} mounted on ${where}`),
        ...(swaps.has(`/dev/${place.name}`) ? [`${place.name} used as swap`] : []),
        ...holders.map((holder) => `${place.name} held by ${holder}`),
      ];
    }),
  );
  return uses.flat();
}

/** Mount points by device number (`8:1`); proc_pid_mountinfo(5): field 3 is the number, field 5 the place with octal escapes. */
export function parseMounts(text: string): Map<string, string[]> {
  const mounts = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [, , number, , place] = line.split(' ');
    if (number === undefined || place === undefined) continue;
    mounts.set(number, [...(mounts.get(number) ?? []), unescaped(place)]);
  }
  return mounts;
}

function parseSwaps(text: string): Set<string> {
  return new Set(
    text
      .split('\n')
      .slice(1)
      .map((line) => line.split(/\s/)[0] ?? ''),
  );
}

function unescaped(place: string): string {
  return place.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}

async function textOf(file: string): Promise<string> {
  return (await readFile(file, 'utf8').catch(ignore)) ?? '';
}
