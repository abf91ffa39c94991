import type { SerialConsole } from '#console/session.ts';
import type { BmcHealth } from '#contract/bmcHealth.ts';
import type { LogMark, LogReading } from '#contract/bmcLog.ts';
import type { BmcAccount } from '#contract/bmcPassword.ts';
import type { OobInventory } from '#contract/oobInventory.ts';
import type { RelayAnswer, RelayRequest } from '#contract/redfishRelay.ts';
import type { Credentials } from '#contract/secrets.ts';
import type { BootDevice, BootMode, PowerAction } from '#contract/steps.ts';
import type { BmcEvents } from '#redfish/events/events.ts';

export type Power = 'on' | 'off';

export interface DriveOptions {
  /** Milliseconds since the epoch. */
  deadline?: number;
  /** How long an OS may take to obey `graceful-off` or `graceful-restart` before it is switched off; never when left out. */
  forceAfterMs?: number;
  /** Ends what only waits or reads, and nothing more is sent; a write that is on its way comes to its end. */
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
  getPower(options?: DriveOptions): Promise<Power>;
  /** Brings the power to what the action asks, and returns what it is then. */
  setPower(action: PowerAction, options?: DriveOptions): Promise<Power>;
  /** Returns what was stored, with what there is to say of it. */
  setBootDevice(override: BootOverride, options?: DriveOptions): Promise<BootOverride>;
  /** Takes a boot override back: the machine boots as its firmware is set up. */
  clearBootDevice(options?: DriveOptions): Promise<void>;
  inspect(options?: DriveOptions): Promise<OobInventory>;
  insertMedia(url: string, options?: DriveOptions): Promise<void>;
  ejectMedia(options?: DriveOptions): Promise<void>;
  /** The URL of what is in the virtual CD drive; UNSUPPORTED (`virtual-media`) where there is no such drive. */
  insertedMedia(options?: DriveOptions): Promise<string | undefined>;
  /** Health and power, cheaply; only what has a BMC has it. */
  health?(options?: DriveOptions): Promise<BmcHealth>;
  /** What is new in the BMC's event log since `mark`; undefined when it has none. */
  readLog?(mark: LogMark | undefined, options?: DriveOptions): Promise<LogReading | undefined>;
  /** How it tells of what happens; only what speaks Redfish has it. */
  readonly events?: BmcEvents;
  /** Sends one Redfish request as it is; only what speaks Redfish has it. */
  relay?(request: RelayRequest, options?: DriveOptions): Promise<RelayAnswer>;
  /** The ways to the machine's serial port; only what speaks Redfish can tell. */
  serialConsole?(): Promise<SerialConsole>;
  /** As whom it logs in at the BMC, and which passwords that takes; only what has a BMC has it. */
  readAccount?(options?: DriveOptions): Promise<BmcAccount>;
  /** Gives that account this password, and proves it by a new login; only what has a BMC has it. */
  setPassword?(fresh: Credentials): Promise<void>;
  close(): Promise<void>;
}
