import { type Clock, systemClock } from '#base/clock.ts';
import type { Login, NextLogin } from '#base/logins.ts';
import { Slots } from '#base/slots.ts';
import type { BmcHealth } from '#contract/bmcHealth.ts';
import type { LogMark, LogReading } from '#contract/bmcLog.ts';
import type { BmcAccount } from '#contract/bmcPassword.ts';
import { RailheadError } from '#contract/errors.ts';
import type { OobInventory } from '#contract/oobInventory.ts';
import type { BootMode, PowerAction } from '#contract/steps.ts';
import { readAccount } from './account/readAccount.ts';
import { setPassword } from './account/setPassword.ts';
import { refreshBootDevice, type StoredBoot, setBootDevice } from './bootDevice.ts';
import { type BootOverride, bootOptions, type Firmware } from './bootOptions.ts';
import { chassisStatus } from './chassis.ts';
import { IpmiClient, type IpmiOptions } from './client.ts';
import { inspect } from './inspect.ts';
import type { BootMemory } from './memory.ts';
import { type Power, type PowerRun, setPower } from './power.ts';
import { readSel } from './sel.ts';
import { healthOf } from './sensors.ts';

export interface IpmiBmcOptions extends Omit<IpmiOptions, 'clock'> {
  /** Which firmware the machine boots by; asked at each use. */
  firmware: () => Firmware;
  /** Outlives the object: a boot device may be set long before the restart. */
  memory: BootMemory;
  clock?: Clock;
}

/** Ends what only reads or waits. */
type Cancel = Pick<PowerRun, 'signal'>;

const powerMs = 120_000;

/** A BMC by IPMI, through ipmitool. Nothing is sent before the first call; there is no session that outlives one. */
export class IpmiBmc {
  readonly #client: IpmiClient;
  readonly #firmware: () => Firmware;
  /** Power and boot device change one after the other, never into each other. */
  readonly #changes = new Slots(1);
  readonly #memory: BootMemory;
  readonly #next: NextLogin | undefined;

  constructor({ firmware, memory, clock = systemClock, ...options }: IpmiBmcOptions) {
    this.#client = new IpmiClient({ ...options, logins: memory, clock });
    this.#next = options.next;
    this.#firmware = firmware;
    this.#memory = memory;
  }

  async getPower({ signal }: Cancel = {}): Promise<Power> {
    return (await chassisStatus(this.#client, signal)).power;
  }

  /** @throws RailheadError as `setPower` of power.ts */
  setPower(action: PowerAction, options: Partial<Omit<PowerRun, 'beforeStart'>> = {}): Promise<Power> {
    const { deadline = this.#client.clock.now() + powerMs, signal, forceAfterMs } = options;
    const beforeStart = () => this.#refreshBootDevice();
    return this.#changes.run(
      () => setPower(this.#client, action, { deadline, signal, forceAfterMs, beforeStart }),
      signal,
    );
  }

  async #refreshBootDevice(): Promise<void> {
    const { fleeting } = this.#memory;
    if (fleeting === undefined) return;
    await refreshBootDevice(this.#client, fleeting);
    delete this.#memory.fleeting;
  }

  /** @throws RailheadError as `setBootDevice` of bootDevice.ts */
  setBootDevice(override: BootOverride, { signal }: Cancel = {}): Promise<StoredBoot> {
    return this.#changes.run(
      () =>
        setBootDevice(this.#client, override, firmwareOf(override.mode) ?? this.#firmware(), (fleeting) => {
          if (fleeting === undefined) delete this.#memory.fleeting;
          else this.#memory.fleeting = fleeting;
        }),
      signal,
    );
  }

  clearBootDevice({ signal }: Cancel = {}): Promise<void> {
    return this.#changes.run(async () => {
      await this.#client.raw(bootOptions.none, { repeatable: true });
      delete this.#memory.fleeting;
    }, signal);
  }

  inspect({ signal }: Cancel = {}): Promise<OobInventory> {
    return inspect(this.#client, signal);
  }

  /** By the chassis alone, one command: the sensors of old BMCs take a minute. */
  async health({ signal }: Cancel = {}): Promise<BmcHealth> {
    const { power, faults } = await chassisStatus(this.#client, signal);
    return { health: healthOf(faults, []), power, faults };
  }

  readLog(mark: LogMark | undefined): Promise<LogReading> {
    return readSel(this.#client, mark);
  }

  /** @throws RailheadError UNSUPPORTED (`virtual-media`), by which the workflow falls back to a boot entry */
  async insertMedia(): Promise<void> {
    throw noMedia();
  }

  /** @throws RailheadError UNSUPPORTED (`virtual-media`) */
  async insertedMedia(): Promise<undefined> {
    throw noMedia();
  }

  readAccount(): Promise<BmcAccount> {
    return readAccount(this.#client, this.#next);
  }

  /** @throws RailheadError as `setPassword` of account/setPassword.ts */
  setPassword(fresh: Login): Promise<void> {
    return this.#changes.run(() => setPassword(this.#client, fresh));
  }

  /** Nothing can be in a drive that is not there. */
  async ejectMedia(): Promise<void> {}

  async close(): Promise<void> {}
}

function noMedia(): RailheadError {
  return new RailheadError(
    'UNSUPPORTED',
    'IPMI has no virtual media: the site boots the image over the network',
    { reason: 'virtual-media' },
  );
}

function firmwareOf(mode: BootMode | undefined): Firmware | undefined {
  if (mode === undefined) return undefined;
  return mode === 'legacy' ? 'bios' : 'uefi';
}
