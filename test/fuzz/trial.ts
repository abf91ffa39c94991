import type { FuzzTarget } from './target.ts';

/** The most processor time that one input may take. */
export const mostMs = 100;

export interface Fault {
  what: 'exception' | 'slow';
  message: string;
  /** The same fault again has the same place. */
  place: string;
}

/** Runs one input; undefined when the target bore it. */
export async function trial(target: FuzzTarget, input: Buffer): Promise<Fault | undefined> {
  const begun = performance.now();
  const fault = await exceptionOf(target, input);
  if (fault !== undefined || performance.now() - begun < mostMs) return fault;
  const ms = await leastCpuMs(target, input);
  return ms < mostMs
    ? undefined
    : { what: 'slow', message: `${Math.round(ms)} ms of processor time`, place: 'slow' };
}

async function exceptionOf(target: FuzzTarget, input: Buffer): Promise<Fault | undefined> {
  try {
    // Waited for only where there is something to wait for: most parsers are done by now.
    const result = target.run(input);
    if (result instanceof Promise) await result;
    return undefined;
  } catch (error) {
    if (target.declares?.(error)) return undefined;
    const { name, message, stack = '' } = error instanceof Error ? error : new Error(String(error));
    const place = stack.split('\n').find((line) => line.startsWith('    at ')) ?? '';
    return { what: 'exception', message: `${name}: ${message} ${place.trim()}`, place: `${name} ${place}` };
  }
}

/** Whatever else the machine does: the least of three runs, in this thread's own processor time. */
async function leastCpuMs(target: FuzzTarget, input: Buffer): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < 3; run++) {
    const before = process.threadCpuUsage();
    await exceptionOf(target, input);
    const { user, system } = process.threadCpuUsage(before);
    times.push((user + system) / 1000);
  }
  return Math.min(...times);
}
