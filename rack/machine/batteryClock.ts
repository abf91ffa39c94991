import type { Qmp } from '../qmp/client.ts';

/** How a spec says what a battery clock shows at first: so far from the right time, or a date. */
export const rtcPattern = '^([+-]\\d{1,6}[smhd]|\\d{4}-\\d{2}-\\d{2})$';

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Seconds between what such a clock shows at `now` (milliseconds since the epoch) and the right time. */
export function rtcOffset(rtc: string, now: number): number {
  const unit = unitSeconds[rtc.at(-1) ?? ''];
  return unit === undefined
    ? Math.round((Date.parse(`${rtc}T00:00:00Z`) - now) / 1000)
    : Number(rtc.slice(0, -1)) * unit;
}

/** A machine's battery clock: it runs on from QEMU process to QEMU process, and keeps what the guest sets it to. */
export class BatteryClock {
  #offsetSeconds: number;

  constructor(offsetSeconds = 0) {
    this.#offsetSeconds = offsetSeconds;
  }

  /** QEMU's arguments for a start at `now`. */
  arguments(now: number): string[] {
    const shown = new Date(now + this.#offsetSeconds * 1000).toISOString().slice(0, 19);
    return this.#offsetSeconds === 0 ? [] : ['-rtc', `base=${shown}`];
  }

  /** QEMU tells each change as an offset from the clock that it was started with. */
  follow(qmp: Pick<Qmp, 'on'>): void {
    const startedWith = this.#offsetSeconds;
    qmp.on('event', (name, { offset }) => {
      if (name === 'RTC_CHANGE' && typeof offset === 'number') this.#offsetSeconds = startedWith + offset;
    });
  }
}
