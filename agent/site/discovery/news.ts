import type { Closable } from '#base/shutdown.ts';
import type { SeenMachine } from '#contract/seenMachine.ts';
import type { SeenMachines } from './seenMachines.ts';

/** So many machines in so many milliseconds reach the centre, whatever happens on the boot network. */
const batch = { machines: 100, everyMs: 10_000 };

/** What the centre has not heard of the machines seen, in measured doses. */
export interface SeenMachineNews extends Closable {
  /** The next dose; empty until the time for it has come. */
  take(): SeenMachine[];
  /** The centre has this dose. */
  taken(machines: readonly SeenMachine[]): void;
}

/** `wake` is called when there is something to take. `everyMs`: another than the usual time is for tests. */
export function seenMachineNews(
  seen: SeenMachines,
  wake: () => void,
  everyMs = batch.everyMs,
): SeenMachineNews {
  let due = true;
  const timer = setInterval(() => {
    due = true;
    if (seen.untold(1).length > 0) wake();
  }, everyMs);
  return {
    take: () => (due ? seen.untold(batch.machines) : []),
    taken: (machines) => {
      if (machines.length === 0) return;
      due = false;
      seen.told(machines);
    },
    close: () => clearInterval(timer),
  };
}
