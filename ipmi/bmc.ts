import { type Clock, systemClock } from '#base/clock.ts';
import { Slots } from '#base/slots.ts';
import type { BmcHealth } from '#contract/bmcHealth.ts';
import { RailheadError } from '#contract/errors.ts';
import type { OobInventory } from '#contract/oobInventory.ts';
import type { BootMode, PowerAction } from '#contract/steps.ts';
import { type FleetingFlags, refreshBootDevice, type StoredBoot, setBootDevice } from './bootDevice.ts';
import { type BootOverride, bootOptions, type Firmware } from './bootOptions.ts';
import { chassisStatus } from './chassis.ts';
import { IpmiClient, type IpmiOptions } from './client.ts';
import { inspect } from './inspect.ts';
import { type Power, type PowerRun, setPower } from './power.ts';
import { healthOf } from './sensors.ts';

export interface IpmiBmcOptions extends Omit<IpmiOptions, 'clock'> {
  /** Which firmware the machine boots by; asked at each use. */
  firmware: () => Firmware;
  /** Outlives the object: a boot device may be set long before the restart. */
  memory: BootMemory;
  clock?: Clock;
}

/** What a BMC would forget within a minute. */
export interface BootMemory {
  fleeting?: FleetingFlags | undefined;
}

const powerMs = 120_000;

/** A BMC by IPMI, through ipmitool. Nothing is sent before the first call; there is no session that outlives one. */
export class IpmiBmc {
  readonly #client: IpmiClient;
  readonly #firmware: () => Firmware;
  /** Power and boot device change one after the other, never into each other. */
  readonly #changes = new Slots(1);
  readonly #memory: BootMemory;

  constructor({ firmware, memory, clock = systemClock, ...options }: IpmiBmcOptions) {
    this.#client = new IpmiClient({ ...options, clock });
    this.#firmware = firmware;
    this.#memory = memory;
  }

  async getPower(): Promise<Power> {
    return (await chassisStatus(this.#client)).power;
  }

  /** @throws RailheadError as `setPower` of power.ts */
  setPower(action: PowerAction, options: Partial<PowerRun> = {}): Promise<Power> {
    const { deadline = this.#client.clock.now() + powerMs, signal, forceAfterMs } = options;
    return this.#changes.run(async () => {
      const { fleeting } = this.#memory;
      if (fleeting !== undefined && restarts(action)) {
        await refreshBootDevice(this.#client, fleeting);
        this.#memory.fleeting = undefined;
      }
      return setPower(this.#client, action, { deadline, signal, forceAfterMs });
    }, signal);
  }

  /** @throws RailheadError as `setBootDevice` of bootDevice.ts */
  setBootDevice(override: BootOverride): Promise<StoredBoot> {
    return this.#changes.run(() =>
      setBootDevice(this.#client, override, firmwareOf(override.mode) ?? this.#firmware(), (fleeting) => {
        this.#memory.fleeting = fleeting;
      }),
    );
  }

  clearBootDevice(): Promise<void> {
    return this.#changes.run(async () => {
      await this.#client.raw(bootOptions.none, { repeatable: true });
      this.#memory.fleeting = undefined;
    });
  }

  inspect(): Promise<OobInventory> {
    return inspect(this.#client);
  }

  /** By the chassis alone, one command: the sensors of old BMCs take a minute. */
  async health(): Promise<BmcHealth> {
    const { power, faults } = await chassisStatus(this.#client);
    return { health: healthOf(faults, []), power, faults };
  }

  /** @throws RailheadError UNSUPPORTED (`virtual-media`), by which the workflow falls back to a boot entry */
  async insertMedia(): Promise<void> {
    throw new RailheadError(
      'UNSUPPORTED',
      'IPMI has no virtual media: the site boots the image over the network',
      {
        reason: 'virtual-media',
      },
    );
  }

  /** Nothing can be in a drive that is not there. */
  async ejectMedia(): Promise<void> {}

  async close(): Promise<void> {}
}

function firmwareOf(mode: BootMode | undefined): Firmware | undefined {
  if (mode === undefined) return undefined;
  return mode === 'legacy' ? 'bios' : 'uefi';
}

function restarts(action: PowerAction): boolean {
  return action !== 'off' && action !== 'graceful-off' && action !== 'nmi';
}
