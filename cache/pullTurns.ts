import { Slots } from '#base/slots.ts';

/** Whether somebody waits for a pull; once so, it stays so. */
export class Urgency {
  readonly #became = new AbortController();

  get isUrgent(): boolean {
    return this.#became.signal.aborted;
  }

  /** Aborts when it becomes urgent. */
  get signal(): AbortSignal {
    return this.#became.signal;
  }

  raise(): void {
    this.#became.abort();
  }
}

/**
 * Which pulls may run? A bounded number, in the order in which they came. What a machine waits for does not queue behind those that bring in what
 * may be wanted later: it has places of its own, and while it runs the others take no bytes. Their connections stay, and where a source gives
 * up on one it is resumed by a range.
 */
export class PullTurns {
  readonly #ordinary: Slots;
  readonly #urgent: Slots;
  readonly #running = new Set<Urgency>();
  #changed = Promise.withResolvers<void>();

  constructor(count: number) {
    this.#ordinary = new Slots(count);
    this.#urgent = new Slots(count);
  }

  /** Runs `work` when its turn comes. @throws the reason of `signal`, which takes it out of the queue */
  async run(urgency: Urgency, work: () => Promise<void>, signal: AbortSignal): Promise<void> {
    let isBegun = false;
    const begin = async () => {
      isBegun = true;
      await this.#noted(urgency, work);
    };
    if (!urgency.isUrgent)
      try {
        return await this.#ordinary.run(begin, AbortSignal.any([signal, urgency.signal]));
      } catch (error) {
        if (isBegun || signal.aborted) throw error;
      }
    return this.#urgent.run(begin, signal);
  }

  /** Waits, before a pull takes its next bytes, as long as a more urgent one runs. */
  async pass(urgency: Urgency, signal: AbortSignal): Promise<void> {
    while (!urgency.isUrgent && this.#hasUrgent() && !signal.aborted) {
      const over = Promise.withResolvers<void>();
      const end = () => over.resolve();
      signal.addEventListener('abort', end, { once: true });
      urgency.signal.addEventListener('abort', end, { once: true });
      await Promise.race([this.#changed.promise, over.promise]);
      signal.removeEventListener('abort', end);
      urgency.signal.removeEventListener('abort', end);
    }
    signal.throwIfAborted();
  }

  #hasUrgent(): boolean {
    for (const { isUrgent } of this.#running) if (isUrgent) return true;
    return false;
  }

  async #noted(urgency: Urgency, work: () => Promise<void>): Promise<void> {
    this.#running.add(urgency);
    try {
      await work();
    } finally {
      this.#running.delete(urgency);
      this.#changed.resolve();
      this.#changed = Promise.withResolvers();
    }
  }
}
