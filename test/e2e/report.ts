import { performance } from 'node:perf_hooks';

/** What one end-to-end case found out: named checks, and how long each phase took. */
export class Report {
  readonly name: string;
  readonly checks: Record<string, boolean> = {};
  readonly seconds: Record<string, number> = {};
  #phase: { name: string; since: number } | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** Notes whether `holds`; the case goes on, and fails in the end when it does not. */
  check(what: string, holds: boolean, found?: unknown): void {
    this.checks[what] = holds;
    const detail = holds || found === undefined ? '' : `: found ${JSON.stringify(found)}`;
    console.error(`  ${holds ? 'ok  ' : 'FAIL'} ${what}${detail}`);
  }

  /** Ends the running phase and begins the next. */
  phase(name: string): void {
    this.endPhase();
    console.error(`- ${name}`);
    this.#phase = { name, since: performance.now() };
  }

  endPhase(): void {
    if (this.#phase === undefined) return;
    this.seconds[this.#phase.name] = Math.round(performance.now() - this.#phase.since) / 1000;
    this.#phase = undefined;
  }

  /** Notes a duration that was measured otherwise. */
  note(what: string, seconds: number): void {
    this.seconds[what] = Math.round(seconds * 10) / 10;
    console.error(`       ${what}: ${seconds.toFixed(1)} s`);
  }

  get ok(): boolean {
    const results = Object.values(this.checks);
    return results.length > 0 && results.every(Boolean);
  }

  /** The last line of a case on standard output. */
  toJSON(): { case: string; ok: boolean; checks: Record<string, boolean>; seconds: Record<string, number> } {
    return { case: this.name, ok: this.ok, checks: this.checks, seconds: this.seconds };
  }
}
