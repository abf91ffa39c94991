import { type Clock, systemClock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { Slots } from '#base/slots.ts';
import type { SerialConsole } from '#console/session.ts';
import type { BmcHealth } from '#contract/bmcHealth.ts';
import type { OobInventory } from '#contract/oobInventory.ts';
import type { RelayAnswer, RelayRequest } from '#contract/redfishRelay.ts';
import type { PowerAction } from '#contract/steps.ts';
import { RedfishClient, type Resource } from './client.ts';
import { healthOf } from './health.ts';
import { inspect } from './inspect/inspect.ts';
import { ejectMedia } from './media/eject.ts';
import { insertMedia } from './media/insert.ts';
import { cdSlots } from './media/slots.ts';
import { type BmcMemory, rememberOf } from './memory.ts';
import type { BootOverride } from './operations/bootFields.ts';
import { type Machine, type Power, waitForPower } from './operations/powerState.ts';
import { clearBootDevice, setBootDevice } from './operations/setBootDevice.ts';
import { type PowerOptions, setPower } from './operations/setPower.ts';
import { type PinOptions, pinnedAgent } from './pin.ts';
import { relayRequest } from './relay.ts';
import { managerSshOf, serialConsoleOf } from './serialConsole.ts';
import { findSystem } from './system.ts';
import { vendorOf } from './vendors/index.ts';
import { factsOf, type Vendor } from './vendors/vendor.ts';

export type { BootOverride } from './operations/bootFields.ts';
export type { Power } from './operations/powerState.ts';

export interface BmcOptions extends PinOptions {
  /** `https://host[:port]`. */
  address: string;
  username: string;
  password: string;
  log: Log;
  clock?: Clock;
  /** What was learnt of it before. */
  memory?: BmcMemory;
}

export interface Bmc {
  /** @throws RailheadError DRIVER_ERROR, reason `power-timeout` when the BMC knows neither on nor off for 30 s */
  getPower(): Promise<Power>;
  /**
   * Brings the machine's power to what the action asks and waits until the BMC says so. `deadline` is in
   * milliseconds since the epoch; default 2 minutes from now. `forceAfterMs`: how long an OS may take to obey a graceful action.
   * @throws RailheadError DRIVER_ERROR (reason `power-timeout` names the last state), UNSUPPORTED,
   *   INVALID_STATE (`powered-off`)
   */
  setPower(action: PowerAction, options?: Partial<PowerOptions>): Promise<Power>;
  /**
   * Sets the next boot's device (`persistent`: every boot's) and reads it back.
   * @throws RailheadError DRIVER_ERROR, reason `not-stored` when the BMC accepted it and did not keep it;
   *   UNSUPPORTED
   */
  setBootDevice(override: BootOverride): Promise<BootOverride>;
  /** Takes an override back: the machine boots as its firmware is set up. */
  clearBootDevice(): Promise<void>;
  /** What the BMC knows of its machine, on or off. What it refuses to tell is named in `notes`. */
  inspect(): Promise<OobInventory>;
  /**
   * Presents the image at `url` to the machine as a CD and waits until the BMC shows it. `deadline` as for `setPower`.
   * @throws RailheadError UNSUPPORTED, reason `virtual-media`, when the BMC has no virtual CD drive; DRIVER_ERROR
   */
  insertMedia(url: string, options?: { deadline?: number }): Promise<void>;
  /** The URL of what is in the virtual CD drive; undefined when nothing is, or there is no drive. */
  insertedMedia(): Promise<string | undefined>;
  /** Takes out what is in the virtual CD drives; nothing in them is no error. */
  ejectMedia(options?: { deadline?: number }): Promise<void>;
  /** Health and power in one reading. */
  health(): Promise<BmcHealth>;
  /** The ways to the machine's serial port: `redfish/serialConsole.ts`. */
  serialConsole(): Promise<SerialConsole>;
  /** Sends one request as it is: `redfish/relay.ts`. */
  relay(request: RelayRequest): Promise<RelayAnswer>;
  /** Ends the session and the connections. */
  close(): Promise<void>;
}

const readLimitMs = 30_000;
/** What was read to find the system is an answer to the question that made us look for it, and to no later one. */
const freshForMs = 1000;
const writeLimitMs = 120_000;

/**
 * A BMC by Redfish. Nothing is sent before the first call. Every method may fail with DRIVER_ERROR and reason
 * `unreachable`, `pin-mismatch`, `credentials-refused`, `busy`, `refused` or `license`.
 */
export function openBmc(options: BmcOptions): Bmc {
  const { address, clock = systemClock, log, username, password, memory = {} } = options;
  const client = new RedfishClient({
    origin: address.replace(/\/+$/, ''),
    username,
    password,
    agent: pinnedAgent(options),
    log,
    clock,
    memory,
  });
  return new RedfishBmc(client, clock, log, memory);
}

class RedfishBmc implements Bmc {
  readonly #client: RedfishClient;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #memory: BmcMemory;
  /** Power and boot device change one after the other, never into each other. */
  readonly #changes = new Slots(1);
  #found: Promise<Machine> | undefined;

  constructor(client: RedfishClient, clock: Clock, log: Log, memory: BmcMemory) {
    this.#client = client;
    this.#clock = clock;
    this.#log = log;
    this.#memory = memory;
  }

  async getPower(): Promise<Power> {
    const machine = await this.#machine();
    return (await waitForPower(machine, ['on', 'off'], this.#clock.now() + readLimitMs)).power;
  }

  setPower(action: PowerAction, options: Partial<PowerOptions> = {}): Promise<Power> {
    return this.#changes.run(async () => {
      const deadline = this.#clock.now() + writeLimitMs;
      return setPower(await this.#machine(), action, { deadline, ...options });
    });
  }

  setBootDevice(override: BootOverride): Promise<BootOverride> {
    return this.#changes.run(async () =>
      setBootDevice(await this.#machine(), override, this.#clock.now() + writeLimitMs),
    );
  }

  clearBootDevice(): Promise<void> {
    return this.#changes.run(async () =>
      clearBootDevice(await this.#machine(), this.#clock.now() + writeLimitMs),
    );
  }

  async inspect(): Promise<OobInventory> {
    return inspect(await this.#machine());
  }

  insertMedia(url: string, options: { deadline?: number } = {}): Promise<void> {
    return this.#changes.run(async () =>
      insertMedia(await this.#machine(), url, options.deadline ?? this.#clock.now() + writeLimitMs),
    );
  }

  async insertedMedia(): Promise<string | undefined> {
    const slots = await cdSlots(await this.#machine());
    return slots.find(({ inserted }) => inserted)?.image;
  }

  ejectMedia(options: { deadline?: number } = {}): Promise<void> {
    return this.#changes.run(async () =>
      ejectMedia(await this.#machine(), options.deadline ?? this.#clock.now() + writeLimitMs),
    );
  }

  async health(): Promise<BmcHealth> {
    const { client, path } = await this.#machine();
    return healthOf((await client.get(path)).body);
  }

  async serialConsole(): Promise<SerialConsole> {
    const { client, path, vendor } = await this.#machine();
    const { body } = await client.get(path);
    return serialConsoleOf(body, vendor, await managerSshOf(client, body));
  }

  relay(request: RelayRequest): Promise<RelayAnswer> {
    return relayRequest(this.#client, request);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  #machineOf(system: Resource, vendor: Vendor): Machine {
    let fresh: Resource | undefined = system;
    const foundAt = this.#clock.now();
    return {
      client: this.#client,
      path: system.path,
      vendor,
      memory: this.#memory,
      links: system.body,
      takeFresh: () => {
        const taken = this.#clock.now() - foundAt < freshForMs ? fresh : undefined;
        fresh = undefined;
        return taken;
      },
    };
  }

  /** Found once; a failure is not kept. */
  #machine(): Promise<Machine> {
    this.#found ??= this.#find().catch((error) => {
      this.#found = undefined;
      throw error;
    });
    return this.#found;
  }

  async #find(): Promise<Machine> {
    const { root, system } = await findSystem(this.#client);
    const facts = factsOf(root, system.body);
    const vendor = vendorOf(facts);
    rememberOf(this.#memory, [facts.manufacturer, facts.model, facts.firmwareVersion].join(' '));
    this.#log.debug({ vendor: vendor.name, system: system.path }, 'the BMC was recognised');
    return this.#machineOf(system, vendor);
  }
}
