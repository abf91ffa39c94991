import { readdirSync, readFileSync } from 'node:fs';

/** Ends every process that this one has started, and those that they have started: for a program that gives up in mid-work. */
export function endDescendants(): void {
  for (const pid of descendantsOf(process.pid)) {
    try {
      process.kill(pid, 'SIGTERM');
    } catch {
      // It ended by itself meanwhile.
    }
  }
}

function descendantsOf(pid: number): number[] {
  const parents = new Map(processes());
  const isBelow = (one: number): boolean => {
    const parent = parents.get(one);
    return parent === pid || (parent !== undefined && parent > 1 && isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow);
}

/** Every process and its parent (field 4 of /proc/PID/stat, counted after the command's name, which may hold spaces). */
function processes(): [pid: number, parent: number][] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name): [number, number][] => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        return [[Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])]];
      } catch {
        return [];
      }
    });
}
