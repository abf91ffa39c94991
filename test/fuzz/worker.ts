import { parentPort, workerData } from 'node:worker_threads';
import { Coverage } from './coverage.ts';
import { fuzz } from './fuzz.ts';
import { heldBytes } from './heap.ts';
import { loadTarget } from './targets/index.ts';

/** Its part of a run, and where it writes what it is about to do: the starter sees it even when this thread hangs. */
export interface WorkerTask {
  target: string;
  inputs: number;
  seed: number;
  /** Inputs begun, and the length of the last one. */
  progress: Int32Array<SharedArrayBuffer>;
  input: Uint8Array<SharedArrayBuffer>;
}

/** What the worker tells at its end. */
export interface WorkerFindings {
  inputs: number;
  corpus: number;
  /** Bytes of program text that ran. */
  covered: number;
  heapGrowth: number;
  failures: { what: string; message: string; hex: string }[];
}

const { target: name, inputs, seed, progress, input } = workerData as WorkerTask;
const coverage = new Coverage();
const target = await loadTarget(name);
let heldWhenWarm: number | undefined;
const findings = await fuzz(target, {
  inputs,
  seed,
  coverage,
  onInput: (bytes) => {
    input.set(bytes);
    Atomics.store(progress, 1, bytes.length);
    Atomics.add(progress, 0, 1);
  },
  onWarm: async () => {
    heldWhenWarm = await heldBytes();
  },
});
const held = await heldBytes();
const answer: WorkerFindings = {
  inputs: findings.inputs,
  corpus: findings.corpus,
  covered: coverage.size,
  heapGrowth: held - (heldWhenWarm ?? held),
  failures: findings.failures.map(({ what, message, input: bytes }) => ({
    what,
    message,
    hex: bytes.toString('hex'),
  })),
};
parentPort?.postMessage(answer);
coverage.close();
