/** Which joined machines are there? A machine is present while it holds a long poll and for a while after its last word. */
export interface Presence {
  seen(nodeId: string): void;
  /** Counts a request that is being held open. */
  hold(nodeId: string): HeldRequest;
  /** Milliseconds since the machine's last word; 0 while it holds a request open. Counts from the start of this process. */
  silentFor(nodeId: string): number;
  /** Whether the machine has said anything to this process. */
  heard(nodeId: string): boolean;
  /**
   * Whether the machine is still there: what it holds open is answered, and a ramdisk that runs asks again at once. True at its
   * next request; false when none came within `milliseconds`. An open connection proves nothing: a reset does not close it.
   */
  answers(nodeId: string, milliseconds: number): Promise<boolean>;
}

export interface HeldRequest {
  /** Aborts when the machine is to show that it is there. */
  readonly asked: AbortSignal;
  release(): void;
}

interface Machine {
  lastSeen?: number;
  held: number;
  asking: AbortController;
  /** Called at the machine's next request. */
  waiting: Set<() => void>;
}

/** `now`: milliseconds of a clock that nobody sets, else a corrected clock makes machines fall silent. */
export function createPresence(now: () => number = () => performance.now()): Presence {
  const startedAt = now();
  const machines = new Map<string, Machine>();
  const machineOf = (nodeId: string): Machine => {
    const known = machines.get(nodeId);
    if (known !== undefined) return known;
    const machine: Machine = { held: 0, asking: new AbortController(), waiting: new Set() };
    machines.set(nodeId, machine);
    return machine;
  };
  const seen = (nodeId: string) => {
    const machine = machineOf(nodeId);
    machine.lastSeen = now();
    for (const resume of [...machine.waiting]) resume();
  };
  return {
    seen,
    hold: (nodeId) => {
      seen(nodeId);
      const machine = machineOf(nodeId);
      machine.held++;
      const release = () => {
        machine.held--;
        machine.lastSeen = now();
      };
      return { asked: machine.asking.signal, release };
    },
    silentFor: (nodeId) => {
      const { held, lastSeen = startedAt } = machineOf(nodeId);
      return held > 0 ? 0 : now() - lastSeen;
    },
    heard: (nodeId) => machineOf(nodeId).lastSeen !== undefined,
    answers: (nodeId, milliseconds) => {
      const machine = machineOf(nodeId);
      machine.asking.abort();
      machine.asking = new AbortController();
      return nextWord(machine, milliseconds);
    },
  };
}

function nextWord({ waiting }: Machine, milliseconds: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (answered: boolean) => {
      clearTimeout(timer);
      waiting.delete(heard);
      resolve(answered);
    };
    const heard = () => end(true);
    const timer = setTimeout(() => end(false), milliseconds);
    waiting.add(heard);
  });
}
