import { cpus } from 'node:os';

/** What a benchmark found: ours and each peer's figures from one run, and ours divided by the peer's as more-is-better. */
export interface Findings {
  bench: string;
  ratio: Record<string, number>;
  ours: object;
  peers: object;
  machine: object;
}

/** One benchmark: a file here and a line in `run.ts`. `quick` ends within 50 s; it may shrink sizes, never drop a peer. */
export interface Benchmark {
  name: string;
  about: string;
  run(quick: boolean, signal: AbortSignal): Promise<Findings>;
}

export function thisMachine(): { cores: number; cpu: string | undefined } {
  return { cores: cpus().length, cpu: cpus()[0]?.model };
}

export function round(value: number): number {
  return Math.round(value * 100) / 100;
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
