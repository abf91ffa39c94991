import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { writeDurably } from '#base/durableFile.ts';

/** A process that a later command may end: its id alone may belong to another by then, with its start time it cannot. */
export interface ProcessRecord {
  pid: number;
  /** Clock ticks since boot (field 22 of /proc/PID/stat). */
  startTime: string;
}

/** Writes down this process in `directory`. */
export async function recordProcess(directory: string): Promise<void> {
  const record: ProcessRecord = { pid: process.pid, startTime: (await startTimeOf(process.pid)) ?? '' };
  await writeDurably(processFile(directory), JSON.stringify(record));
}

/** The recorded process, if that very process still runs. */
export async function recordedProcess(directory: string): Promise<number | undefined> {
  try {
    const { pid, startTime } = JSON.parse(await readFile(processFile(directory), 'utf8')) as ProcessRecord;
    return (await startTimeOf(pid)) === startTime ? pid : undefined;
  } catch {
    return undefined;
  }
}

function processFile(directory: string): string {
  return path.join(directory, 'supervisor.json');
}

/** The start time of a process; undefined when there is none or it has ended and only waits for its parent. */
async function startTimeOf(pid: number): Promise<string | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The command's name, in parentheses, may hold spaces: count after it, where the state is field 3.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}
