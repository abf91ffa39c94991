import type { Trial } from './perfdhcp.ts';

/** Of a hundred DISCOVERs or REQUESTs one may be lost. */
const mostDropped = 1;

/**
 * Raises the rate until more than 1 % is dropped, and closes in on the greatest that is not: the best trial. Both steps and closing in
 * are counted, so that a slow server takes no longer than a fast one.
 */
export async function greatestRate(
  first: number,
  steps: { double: number; close: number },
  measure: (rate: number) => Promise<Trial>,
): Promise<Trial> {
  let best: Trial | undefined;
  let failed: number | undefined;
  for (let step = 0, rate = first; step < steps.double && failed === undefined; step++, rate *= 2) {
    const trial = await tryTwice(measure, rate);
    if (holds(trial)) best = trial;
    else failed = rate;
  }
  let [low, high] = [best?.asked ?? 0, failed ?? first * 2 ** steps.double];
  for (let step = 0; step < steps.close; step++) {
    const trial = await tryTwice(measure, Math.round((low + high) / 2));
    if (holds(trial)) [best, low] = [trial, trial.asked];
    else high = trial.asked;
  }
  if (best === undefined) throw new Error('the server drops more than 1 % at every rate that was tried');
  return best;
}

/** One stall of the host is no limit of the server: what fails once is tried again. */
async function tryTwice(measure: (rate: number) => Promise<Trial>, rate: number): Promise<Trial> {
  const trial = await measure(rate);
  return holds(trial) ? trial : measure(rate);
}

/** perfdhcp begins fewer exchanges than it was asked for when it has no time: what it began counts. */
function holds({ droppedPercent, asked, exchangesPerSecond }: Trial): boolean {
  return droppedPercent < mostDropped && exchangesPerSecond > asked * 0.7;
}
