import { type BootOverride, noOverride } from '../machine/bootOverride.ts';
import type { ManagedMachine } from '../machine/machine.ts';
import { type PowerState, powerRefusal, type ResetType } from '../machine/power.ts';

/** A machine without QEMU: its power changes `delayMs` after it was told, and each start is counted. */
export class SimulatedMachine implements ManagedMachine {
  bootOverride: BootOverride = noOverride;
  powerState: PowerState = 'Off';
  medium: string | undefined;
  /** What it was told, in order. */
  readonly actions: ResetType[] = [];
  /** Under which override it started, each time. */
  readonly starts: BootOverride[] = [];
  readonly #delayMs: number;
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(delayMs = 0) {
    this.#delayMs = delayMs;
  }

  async power(action: ResetType): Promise<void> {
    const refusal = powerRefusal(action, this.powerState);
    if (refusal !== undefined) throw refusal;
    this.actions.push(action);
    if (action === 'Nmi') return;
    const off = action === 'ForceOff' || action === 'GracefulShutdown';
    if (this.#delayMs === 0) return this.#become(off);
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#become(off);
    }, this.#delayMs);
    this.#timers.add(timer);
  }

  async changeMedium(file: string | undefined): Promise<void> {
    this.medium = file;
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #become(off: boolean): void {
    if (off) this.powerState = 'Off';
    else {
      this.powerState = 'On';
      this.starts.push(this.bootOverride);
      if (this.bootOverride.enabled === 'Once') this.bootOverride = noOverride;
    }
  }
}
