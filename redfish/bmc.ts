import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { RailheadError } from '#contract/errors.ts';
import type { BootDevice, PowerAction } from '#contract/steps.ts';

export type Power = 'on' | 'off';

export interface BmcOptions {
  /** `https://host[:port]`. */
  address: string;
  username: string;
  password: string;
  /** sha256 of the certificate (DER), lower-case hex. Without it the first certificate seen is pinned and told to `onPin`. */
  certificateSha256?: string;
  onPin?: (certificateSha256: string) => void;
  log: Log;
  clock?: Clock;
}

export interface BootOverride {
  device: BootDevice;
  persistent: boolean;
}

export interface BmcIdentity {
  uuid?: string;
  serial?: string;
  manufacturer?: string;
  model?: string;
  powerState: Power;
}

export interface Bmc {
  getPower(): Promise<Power>;
  /**
   * Brings the machine's power to what the action asks and waits until the BMC says so.
   * `deadline` is in milliseconds since the epoch; default 2 minutes from now.
   * @throws RailheadError DRIVER_ERROR (reason `power-timeout` names the last state), UNSUPPORTED
   */
  setPower(action: PowerAction, options?: { deadline?: number }): Promise<Power>;
  /**
   * Sets the next boot's device (`persistent`: every boot's) and reads it back.
   * @throws RailheadError DRIVER_ERROR, reason `not-stored` when the BMC accepted it and did not keep it
   */
  setBootDevice(override: BootOverride): Promise<BootOverride>;
  identity(): Promise<BmcIdentity>;
  /** Ends the session and the connections. */
  close(): Promise<void>;
}

/** A BMC by Redfish. Nothing is sent before the first call. */
export function openBmc(options: BmcOptions): Bmc {
  throw new RailheadError('UNSUPPORTED', `Redfish to ${options.address} is not built yet`);
}
