import type { Clock } from '#base/clock.ts';

/** From one time of the day to another, `HH:MM` by the host's clock and zone, all pulls together take so many bytes a second. */
export interface BandwidthWindow {
  from: string;
  to: string;
  bytesPerSecond: number;
}

/** Sleeping for less costs more than it brings. */
const shortestSleepMs = 20;
/** So long a sleep at most: a window may end meanwhile. */
const longestSleepMs = 5000;

/** The limit that holds at `now`, the lowest where windows overlap; a window that ends before it begins goes over midnight, and one that ends where it begins lasts all day. */
export function limitAt(windows: readonly BandwidthWindow[], now: Date): number | undefined {
  const minute = now.getHours() * 60 + now.getMinutes();
  const limits = windows.filter((window) => holdsAt(window, minute)).map((window) => window.bytesPerSecond);
  return limits.length === 0 ? undefined : Math.min(...limits);
}

function holdsAt({ from, to }: BandwidthWindow, minute: number): boolean {
  const [start, end] = [minutesOf(from), minutesOf(to)];
  if (start < end) return start <= minute && minute < end;
  return start <= minute || minute < end;
}

function minutesOf(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number);
  return hours * 60 + minutes;
}

/** Holds all pulls of a site together to what its link may bear at this time of the day. */
export class Bandwidth {
  readonly #windows: readonly BandwidthWindow[];
  readonly #clock: Clock;
  readonly #steady: Clock;
  /** When what was taken so far is paid for, in milliseconds of the steady clock. */
  #paidAt = 0;

  /** `clock` says which time of the day it is, `steady` how long ago something was. */
  constructor(windows: readonly BandwidthWindow[], clock: Clock, steady: Clock) {
    this.#windows = windows;
    this.#clock = clock;
    this.#steady = steady;
  }

  /** Takes `bytes` that have arrived, and waits until the next may come. @throws the reason of `signal` */
  async take(bytes: number, signal: AbortSignal): Promise<void> {
    const limit = this.#limit();
    if (limit === undefined) return;
    this.#paidAt = Math.max(this.#paidAt, this.#steady.now()) + (bytes / limit) * 1000;
    for (;;) {
      const waitMs = this.#paidAt - this.#steady.now();
      if (waitMs < shortestSleepMs) return;
      await this.#steady.sleep(Math.min(waitMs, longestSleepMs), signal);
      if (this.#limit() === undefined) this.#paidAt = 0;
    }
  }

  #limit(): number | undefined {
    return this.#windows.length === 0 ? undefined : limitAt(this.#windows, new Date(this.#clock.now()));
  }
}
