import type { Clock } from '#base/clock.ts';
import { RecentMachines } from './recentMachines.ts';
import type { Advice } from './troubles.ts';

/**
 * So many boots in a row that loaded iPXE and did not ask for a script: the machine goes round in a circle. A server's POST takes minutes,
 * so that a round may take a quarter of an hour; what lies further apart is no round.
 */
const mostBoots = 5;
const withinMs = 2 * 3_600_000;
/** For so long it then gets no loader, and its firmware goes on to the disk. */
const pauseMs = 10 * 60_000;

interface Round {
  /** Its boots that got the loader since it last asked for its script, and when. */
  boots: { bootId: string; at: number }[];
  pausedUntil?: number;
}

/**
 * Finds machines that load iPXE again and again: iPXE that does not show as such, crashes, or cannot reach us by HTTP. Such a machine
 * would never try its disk.
 */
export class Loops {
  readonly #rounds: RecentMachines<Round>;
  readonly #clock: Clock;

  constructor(clock: Clock, isNamed?: (mac: string) => boolean) {
    this.#clock = clock;
    this.#rounds = new RecentMachines(isNamed);
  }

  /**
   * The machine got the loader, or a part of it: a boot counts once. Returns what to tell the operator when that was once too
   * often.
   */
  loaderGiven(mac: string, bootId: string): Advice | undefined {
    const now = this.#clock.now();
    const before = (this.#rounds.get(mac)?.boots ?? []).filter(({ at }) => now - at < withinMs);
    if (this.isLooping(mac) || before.some((boot) => boot.bootId === bootId)) return undefined;
    const boots = [...before, { bootId, at: now }];
    if (boots.length < mostBoots) {
      this.#rounds.set(mac, { boots });
      return undefined;
    }
    this.#rounds.set(mac, { boots: [], pausedUntil: now + pauseMs });
    return { trouble: 'loop', text: advice(boots.length, now - (boots[0]?.at ?? now)) };
  }

  /** The machine asked for its script: the loader works. */
  scriptAsked(mac: string): void {
    this.#rounds.delete(mac);
  }

  isLooping(mac: string): boolean {
    const until = this.#rounds.get(mac)?.pausedUntil;
    return until !== undefined && this.#clock.now() < until;
  }
}

function advice(times: number, ms: number): string {
  return (
    `loaded iPXE ${times} times in ${Math.max(1, Math.round(ms / 60_000))} min and never asked for its script: ` +
    `for ${pauseMs / 60_000} min it gets no boot file, so that it starts its disk. ` +
    "Look at its console: iPXE crashes, does not reach this server by HTTP, or is another server's"
  );
}
