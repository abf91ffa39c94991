import { type Clock, systemClock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Login, NextLogin } from '#base/logins.ts';
import { Slots } from '#base/slots.ts';
import type { SerialConsole } from '#console/session.ts';
import type { BmcHealth } from '#contract/bmcHealth.ts';
import type { LogMark, LogReading } from '#contract/bmcLog.ts';
import type { BmcAccount } from '#contract/bmcPassword.ts';
import type { OobInventory } from '#contract/oobInventory.ts';
import type { RelayAnswer, RelayRequest } from '#contract/redfishRelay.ts';
import type { PowerAction } from '#contract/steps.ts';
import { readAccount } from './account/readAccount.ts';
import { setPassword } from './account/setPassword.ts';
import { RedfishClient } from './client.ts';
import { Connection } from './connection.ts';
import { type BmcEvents, RedfishEvents } from './events/events.ts';
import { healthOf } from './health.ts';
import { inspect } from './inspect/inspect.ts';
import type { Limits } from './limits.ts';
import { readEventLog } from './logs/log.ts';
import { MachineFinder } from './machineFinder.ts';
import { ejectMedia } from './media/eject.ts';
import { insertMedia } from './media/insert.ts';
import { insertedMedia } from './media/slots.ts';
import type { BmcMemory } from './memory.ts';
import type { BootOverride } from './operations/bootFields.ts';
import { type Machine, type Power, waitForPower } from './operations/powerState.ts';
import { clearBootDevice, setBootDevice } from './operations/setBootDevice.ts';
import { type PowerOptions, setPower } from './operations/setPower.ts';
import { type PinOptions, pinnedAgents } from './pin.ts';
import { relayRequest } from './relay.ts';
import { managerSshOf, serialConsoleOf } from './serialConsole.ts';

export type { BootOverride } from './operations/bootFields.ts';
export type { Power } from './operations/powerState.ts';

export interface BmcOptions extends PinOptions {
  /** `https://host[:port]`. */
  address: string;
  username: string;
  password: string;
  /** What the account is being given in its place. */
  next?: NextLogin | undefined;
  log: Log;
  clock?: Clock;
  /** What was learnt of it before. */
  memory?: BmcMemory;
}

export interface Bmc {
  /** @throws RailheadError DRIVER_ERROR, reason `power-timeout` when the BMC knows neither on nor off for 30 s */
  getPower(limits?: Limits): Promise<Power>;
  /**
   * Brings the machine's power to what the action asks and waits until the BMC says so. `deadline` is in
   * milliseconds since the epoch; default 2 minutes from now. `forceAfterMs`: how long an OS may take to obey a graceful action.
   * @throws RailheadError DRIVER_ERROR (reason `power-timeout` names the last state), UNSUPPORTED,
   *   INVALID_STATE (`powered-off`)
   */
  setPower(action: PowerAction, options?: Partial<PowerOptions> & Limits): Promise<Power>;
  /**
   * Sets the next boot's device (`persistent`: every boot's) and reads it back.
   * @throws RailheadError DRIVER_ERROR, reason `not-stored` when the BMC accepted it and did not keep it;
   *   UNSUPPORTED
   */
  setBootDevice(override: BootOverride, limits?: Limits): Promise<BootOverride>;
  /** Takes an override back: the machine boots as its firmware is set up. */
  clearBootDevice(limits?: Limits): Promise<void>;
  /** What the BMC knows of its machine, on or off. What it refuses to tell is named in `notes`. */
  inspect(limits?: Limits): Promise<OobInventory>;
  /**
   * Presents the image at `url` to the machine as a CD and waits until the BMC shows it. `deadline` as for `setPower`.
   * @throws RailheadError UNSUPPORTED, reason `virtual-media`, when the BMC has no virtual CD drive; DRIVER_ERROR
   */
  insertMedia(url: string, limits?: Limits): Promise<void>;
  /** The URL of what is in the virtual CD drive; undefined when nothing is. @throws RailheadError UNSUPPORTED, reason `virtual-media` */
  insertedMedia(limits?: Limits): Promise<string | undefined>;
  /** Takes out what is in the virtual CD drives; nothing in them is no error. */
  ejectMedia(limits?: Limits): Promise<void>;
  /** Health and power in one reading. */
  health(limits?: Limits): Promise<BmcHealth>;
  /** What is new in its event log since `mark`; undefined when it has none. */
  readLog(mark: LogMark | undefined, limits?: Limits): Promise<LogReading | undefined>;
  /** How it tells of what happens. */
  readonly events: BmcEvents;
  /** The ways to the machine's serial port: `redfish/serialConsole.ts`. */
  serialConsole(): Promise<SerialConsole>;
  /** Sends one request as it is: `redfish/relay.ts`. */
  relay(request: RelayRequest, limits?: Limits): Promise<RelayAnswer>;
  /** As whom the BMC takes us, and what bounds it sets to passwords. */
  readAccount(limits?: Limits): Promise<BmcAccount>;
  /**
   * Gives that account this password and proves it by a new login: `redfish/account/setPassword.ts`. The new one is used from then on.
   * @throws RailheadError DRIVER_ERROR: `password-refused`, `not-stored`, `password-unknown`, `no-account`
   */
  setPassword(fresh: Login): Promise<void>;
  /** Ends the session and the connections. */
  close(): Promise<void>;
}

/** How long a BMC may know no power state. */
const settleLimitMs = 30_000;
const usualLimitMs = 120_000;
/** A BMC is asked for each of its machine's parts, hundreds of them, and slow ones take seconds for each. */
const inspectLimitMs = 600_000;

/**
 * A BMC by Redfish. Nothing is sent before the first call. Every method may fail with DRIVER_ERROR and reason
 * `unreachable`, `pin-mismatch`, `credentials-refused`, `busy`, `refused` or `license`.
 */
export function openBmc(options: BmcOptions): Bmc {
  const { address, clock = systemClock, log, username, password, next, memory = {} } = options;
  const connection = new Connection({
    origin: address.replace(/\/+$/, ''),
    username,
    password,
    next,
    ...pinnedAgents(options),
    log,
    clock,
    memory,
  });
  const client = new RedfishClient(connection);
  return new RedfishBmc(client, new MachineFinder(client, { clock, log, memory }), clock, next);
}

class RedfishBmc implements Bmc {
  readonly events = new RedfishEvents(() => this.#machine());
  readonly #client: RedfishClient;
  readonly #clock: Clock;
  readonly #finder: MachineFinder;
  readonly #next: NextLogin | undefined;
  /** Power and boot device change one after the other, never into each other. */
  readonly #changes = new Slots(1);

  constructor(client: RedfishClient, finder: MachineFinder, clock: Clock, next: NextLogin | undefined) {
    this.#client = client;
    this.#finder = finder;
    this.#clock = clock;
    this.#next = next;
  }

  async getPower(limits: Limits = {}): Promise<Power> {
    const machine = await this.#machine(limits);
    return (await waitForPower(machine, ['on', 'off'], this.#clock.now() + settleLimitMs)).power;
  }

  setPower(action: PowerAction, options: Partial<PowerOptions> & Limits = {}): Promise<Power> {
    return this.#change(options, (machine, deadline) => setPower(machine, action, { ...options, deadline }));
  }

  setBootDevice(override: BootOverride, limits: Limits = {}): Promise<BootOverride> {
    return this.#change(limits, (machine, deadline) => setBootDevice(machine, override, deadline));
  }

  clearBootDevice(limits: Limits = {}): Promise<void> {
    return this.#change(limits, clearBootDevice);
  }

  async inspect(limits: Limits = {}): Promise<OobInventory> {
    return inspect(await this.#finder.machine(this.#timed(limits, inspectLimitMs)));
  }

  insertMedia(url: string, limits: Limits = {}): Promise<void> {
    return this.#change(limits, (machine, deadline) => insertMedia(machine, url, deadline));
  }

  async insertedMedia(limits: Limits = {}): Promise<string | undefined> {
    return insertedMedia(await this.#machine(limits));
  }

  ejectMedia(limits: Limits = {}): Promise<void> {
    return this.#change(limits, ejectMedia);
  }

  async health(limits: Limits = {}): Promise<BmcHealth> {
    const { client, path } = await this.#machine(limits);
    return healthOf((await client.get(path)).body);
  }

  async readLog(mark: LogMark | undefined, limits: Limits = {}): Promise<LogReading | undefined> {
    return readEventLog(await this.#machine(limits), mark);
  }

  async serialConsole(): Promise<SerialConsole> {
    const { client, path, vendor } = await this.#machine();
    const { body } = await client.get(path);
    return serialConsoleOf(body, vendor, await managerSshOf(client, body));
  }

  relay(request: RelayRequest, limits: Limits = {}): Promise<RelayAnswer> {
    return relayRequest(this.#client.within(this.#timed(limits)), request);
  }

  readAccount(limits: Limits = {}): Promise<BmcAccount> {
    return readAccount(this.#client.within(this.#timed(limits)), this.#next);
  }

  setPassword(fresh: Login): Promise<void> {
    return this.#changes.run(() => setPassword(this.#client, fresh, this.#clock.now() + usualLimitMs));
  }

  close(): Promise<void> {
    this.events.close();
    return this.#client.close();
  }

  /** One change after the other, each with a deadline. */
  #change<Result>(
    { deadline = this.#clock.now() + usualLimitMs, signal }: Limits,
    change: (machine: Machine, deadline: number) => Promise<Result>,
  ): Promise<Result> {
    return this.#changes.run(async () => change(await this.#machine({ deadline, signal }), deadline), signal);
  }

  /** For work that ends by these limits, or in the usual time. */
  #machine(limits: Limits = {}): Promise<Machine> {
    return this.#finder.machine(this.#timed(limits));
  }

  #timed(limits: Limits, limitMs = usualLimitMs): Limits {
    return { deadline: this.#clock.now() + limitMs, ...limits };
  }
}
