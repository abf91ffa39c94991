import type { Log } from '#base/log.ts';
import { faultInWords } from './diskFaults.ts';

export interface Trouble {
  /** In plain words, with what to do. */
  text: string;
  /** When it was seen last, in milliseconds since the epoch. */
  at: number;
  times: number;
}

/** What the cache's disk has refused since the start: each kind is logged once, and shown until the agent is restarted. */
export class Troubles {
  readonly #log: Log;
  readonly #seen = new Map<string, Trouble>();

  constructor(log: Log) {
    this.#log = log;
  }

  note(error: unknown, now: number): void {
    const text = faultInWords(error);
    const seen = this.#seen.get(text);
    if (seen === undefined) this.#log.error({ err: error }, `the image cache goes on without: ${text}`);
    this.#seen.set(text, { text, at: now, times: (seen?.times ?? 0) + 1 });
  }

  all(): Trouble[] {
    return [...this.#seen.values()];
  }
}
