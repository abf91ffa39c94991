/** Milliseconds that half, and 99 of a hundred, of the calls took no longer than. */
export interface Latency {
  p50: number;
  p99: number;
}

export async function latency(times: number, call: (turn: number) => Promise<unknown>): Promise<Latency> {
  const taken: number[] = [];
  for (let turn = 0; turn < times; turn++) {
    const started = performance.now();
    await call(turn);
    taken.push(performance.now() - started);
  }
  taken.sort((a, b) => a - b);
  return { p50: quantile(taken, 0.5), p99: quantile(taken, 0.99) };
}

function quantile(sorted: readonly number[], part: number): number {
  const value = sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)] ?? Number.NaN;
  return Math.round(value * 100) / 100;
}
