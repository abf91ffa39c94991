import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { loadTarget } from './targets/index.ts';
import type { WorkerFindings, WorkerTask } from './worker.ts';

/** An input that is not done by then is a hang, whatever else the machine does. */
const hangMs = 30_000;
/** No parser needs more; a worker that wants it is told from a process that the kernel ends. */
const mostMiB = 1024;
/** What may still be held at the end beyond what was held at a quarter: coverage and kept inputs, no trace of each input. */
export const mostGrowth = 24 * 1024 * 1024;

export interface TargetFindings extends WorkerFindings {
  seconds: number;
}

/** Fuzzes one target in a thread of its own, so that its hang or crash is a failure like others. */
export async function supervise(
  target: string,
  inputs: number,
  seed: number,
  signal: AbortSignal,
): Promise<TargetFindings> {
  const begun = performance.now();
  const { longest } = await loadTarget(target);
  const progress = new Int32Array(new SharedArrayBuffer(8));
  const input = new Uint8Array(new SharedArrayBuffer(longest + 65_536));
  const task: WorkerTask = { target, inputs, seed, progress, input };
  const worker = new Worker(new URL('worker.ts', import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: mostMiB },
  });
  const failure = (what: string, message: string): WorkerFindings => ({
    ...{ inputs: Atomics.load(progress, 0), corpus: 0, covered: 0, heapGrowth: 0 },
    failures: [{ what, message, hex: lastInput(task) }],
  });
  const findings = await Promise.race([
    once(worker, 'message', { signal }).then(([found]) => found as WorkerFindings),
    once(worker, 'error').then(([error]) => failure('crash', String(error))),
    hang(task, signal).then(() => failure('hang', `no answer for ${hangMs / 1000} s`)),
  ]).finally(() => worker.terminate());
  return { ...withGrowth(findings), seconds: (performance.now() - begun) / 1000 };
}

/** Resolves when one input takes too long. */
async function hang({ progress }: WorkerTask, signal: AbortSignal): Promise<void> {
  for (let last = -1; ; ) {
    await new Promise((resolve) => setTimeout(resolve, hangMs).unref());
    signal.throwIfAborted();
    const now = Atomics.load(progress, 0);
    if (now === last) return;
    last = now;
  }
}

function lastInput({ progress, input }: WorkerTask): string {
  return Buffer.from(input.slice(0, Atomics.load(progress, 1))).toString('hex');
}

function withGrowth(findings: WorkerFindings): WorkerFindings {
  const { heapGrowth } = findings;
  if (heapGrowth <= mostGrowth) return findings;
  const growth = { what: 'growth', message: `${heapGrowth} bytes more are held at the end`, hex: '' };
  return { ...findings, failures: [...findings.failures, growth] };
}
