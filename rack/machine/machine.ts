import type { Log } from '#base/log.ts';
import { RailheadError } from '#contract/errors.ts';
import { afterBoot, type BootOverride, cdId, noOverride } from './bootOverride.ts';
import type { MachineConsole } from './console.ts';
import type { EndOfRun } from './endOfRun.ts';
import { type PowerState, powerRefusal, type ResetType } from './power.ts';
import type { QemuRun } from './qemuRun.ts';

/** What a BMC can do to its machine. */
export interface ManagedMachine {
  readonly powerState: PowerState;
  bootOverride: BootOverride;
  /**
   * Carries out one power action, after those asked for before it.
   * @throws RailheadError INVALID_STATE when the machine is off and the action needs it on; DRIVER_ERROR when QEMU fails
   */
  power(action: ResetType): Promise<void>;
  /** Puts an image file into the CD drive, or takes it out. */
  changeMedium(file: string | undefined): Promise<void>;
}

/** Starts QEMU for a boot under `override`; the machine stands still until `cont`. */
export type StartRun = (override: BootOverride) => Promise<QemuRun>;

/** A machine made of successive QEMU runs: one from each power on or reset to the next reset or power off. */
export class VirtualMachine implements ManagedMachine {
  bootOverride: BootOverride = noOverride;
  readonly #start: StartRun;
  readonly #console: Pick<MachineConsole, 'attach'>;
  readonly #log: Log;
  #run: QemuRun | undefined;
  #medium: string | undefined;
  #powerState: PowerState = 'Off';
  #startAfterShutdown = false;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(start: StartRun, console: Pick<MachineConsole, 'attach'>, log: Log) {
    this.#start = start;
    this.#console = console;
    this.#log = log;
  }

  get powerState(): PowerState {
    return this.#powerState;
  }

  power(action: ResetType): Promise<void> {
    return this.#inTurn(async () => {
      const refusal = powerRefusal(action, this.#powerState);
      if (refusal !== undefined) throw refusal;
      this.#log.info({ action }, 'power action');
      await this.#actions[action]();
    });
  }

  changeMedium(file: string | undefined): Promise<void> {
    return this.#inTurn(async () => {
      this.#medium = file;
      if (this.#run !== undefined) await loadMedium(this.#run, file);
    });
  }

  /** Pulls the plug for good. */
  close(): Promise<void> {
    return this.#inTurn(() => this.#off());
  }

  readonly #actions: Record<ResetType, () => Promise<void>> = {
    On: () => this.#on(),
    ForceOff: () => this.#off(),
    GracefulShutdown: () => this.#pressPowerButton(false),
    ForceRestart: () => this.#reset(),
    GracefulRestart: () => this.#pressPowerButton(true),
    PowerCycle: async () => {
      await this.#off();
      await this.#on();
    },
    Nmi: async () => {
      await this.#running().qmp.execute('inject-nmi');
    },
  };

  async #on(): Promise<void> {
    if (this.#run !== undefined) return;
    const override = this.bootOverride;
    this.#startAfterShutdown = false;
    const run = await this.#start(override);
    this.bootOverride = afterBoot(override);
    this.#run = run;
    this.#powerState = 'On';
    this.#console.attach(run.console);
    run.ended.then((end) => this.#ended(run, end));
    if (this.#medium !== undefined) await loadMedium(run, this.#medium);
    await run.qmp.execute('cont');
    this.#log.info({ override }, 'machine started');
  }

  async #off(): Promise<void> {
    if (this.#run === undefined) return;
    await this.#run.kill();
    this.#stopped('off');
  }

  async #reset(): Promise<void> {
    const run = this.#running();
    await run.qmp.execute('system_reset').catch(() => run.kill());
    await run.ended;
    this.#run = undefined;
    await this.#restart();
  }

  /** A guest that does not listen to its power button stays on, as a real one does. */
  async #pressPowerButton(startAgain: boolean): Promise<void> {
    this.#startAfterShutdown = startAgain;
    await this.#running().qmp.execute('system_powerdown');
  }

  /** QEMU ended by the guest's doing, or died: what we end ourselves has been dealt with by then. */
  #ended(run: QemuRun, end: EndOfRun): void {
    if (this.#run !== run) return;
    void this.#inTurn(async () => {
      if (this.#run !== run) return;
      const restart = end === 'restart' || this.#startAfterShutdown;
      this.#stopped(restart ? 'restart' : 'off');
      if (restart) await this.#restart();
    });
  }

  #stopped(end: EndOfRun): void {
    this.#run = undefined;
    if (end === 'off') this.#powerState = 'Off';
    this.#log.info({ end }, 'machine stopped');
  }

  async #restart(): Promise<void> {
    try {
      await this.#on();
    } catch (error) {
      this.#powerState = 'Off';
      this.#log.error({ err: error }, 'machine did not start again');
    }
  }

  #running(): QemuRun {
    if (this.#run !== undefined) return this.#run;
    throw new RailheadError('INVALID_STATE', 'the machine is off; power it on first', {
      reason: 'powered-off',
    });
  }

  #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const turn = this.#queue.then(work);
    this.#queue = turn.catch(() => {});
    return turn;
  }
}

async function loadMedium({ qmp }: QemuRun, file: string | undefined): Promise<void> {
  if (file === undefined) await qmp.execute('eject', { id: cdId, force: true });
  else await qmp.execute('blockdev-change-medium', { id: cdId, filename: file, format: 'raw' });
}
