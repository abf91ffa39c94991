import { readdirSync, readFileSync } from 'node:fs';
import { listNamespaces } from '#rack/netns.ts';

/** What is still there of a line: network namespaces of its prefix; processes, loop devices and mounts of its directory. */
export async function leftovers(prefix: string, directory: string): Promise<string[]> {
  const inside = `${directory}/`;
  const namespaces = (await listNamespaces()).filter((name) => name.startsWith(`${prefix}-`));
  const processes = commandLines().filter((line) => line.includes(inside));
  const loops = loopFiles().filter((file) => file.startsWith(inside));
  const mounts = readIfThere('/proc/mounts')
    .split('\n')
    .filter((line) => line.includes(inside));
  return [...namespaces, ...processes, ...loops, ...mounts];
}

function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((pid) => readIfThere(`/proc/${pid}/cmdline`).replaceAll('\0', ' '));
}

function loopFiles(): string[] {
  return readdirSync('/sys/block').map((name) => readIfThere(`/sys/block/${name}/loop/backing_file`).trim());
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
