import type { SerialConsole } from '#console/session.ts';
import type { BmcHealth } from '#contract/bmcHealth.ts';
import type { OobInventory } from '#contract/oobInventory.ts';
import type { RelayAnswer, RelayRequest } from '#contract/redfishRelay.ts';
import type { BootDevice, BootMode, PowerAction } from '#contract/steps.ts';

export type Power = 'on' | 'off';

export interface DriveOptions {
  /** Milliseconds since the epoch. */
  deadline?: number;
  /** How long an OS may take to obey `graceful-off` or `graceful-restart` before it is switched off; never when left out. */
  forceAfterMs?: number;
  /** Ends what only waits; a request that is on its way comes to its end. */
  signal?: AbortSignal;
}

export interface BootOverride {
  device: BootDevice;
  persistent: boolean;
  /** How the firmware boots it; as the machine has it when left out. */
  mode?: BootMode;
}

/**
 * What one machine is driven by: its BMC, by Redfish or IPMI, or what there is without one. What a driver cannot do is UNSUPPORTED with a
 * `reason`; else it fails as docs/errors.md says of DRIVER_ERROR.
 */
export interface MachineDriver {
  getPower(): Promise<Power>;
  /** Brings the power to what the action asks, and returns what it is then. */
  setPower(action: PowerAction, options?: DriveOptions): Promise<Power>;
  /** Returns what was stored, with what there is to say of it. */
  setBootDevice(override: BootOverride, options?: DriveOptions): Promise<BootOverride>;
  /** Takes a boot override back: the machine boots as its firmware is set up. */
  clearBootDevice(): Promise<void>;
  inspect(): Promise<OobInventory>;
  insertMedia(url: string, options?: DriveOptions): Promise<void>;
  ejectMedia(options?: DriveOptions): Promise<void>;
  /** Health and power, cheaply; only what has a BMC has it. */
  health?(): Promise<BmcHealth>;
  /** Sends one Redfish request as it is; only what speaks Redfish has it. */
  relay?(request: RelayRequest): Promise<RelayAnswer>;
  /** The ways to the machine's serial port; only what speaks Redfish can tell. */
  serialConsole?(): Promise<SerialConsole>;
  close(): Promise<void>;
}
