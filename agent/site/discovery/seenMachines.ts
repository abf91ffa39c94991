import type { Log } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import type { Sqlite } from '#base/sqlite.ts';
import type { Sighting } from '#bootserver/sighting.ts';
import { canonicalUuid } from '#contract/productUuid.ts';
import { mostMacs, type SeenMachine } from '#contract/seenMachine.ts';
import { RateLimiter } from '#doors/rateLimiter.ts';
import { mayBeOne, united, withSighting } from './merge.ts';
import { seenTable } from './table.ts';

export interface SeenMachinesOptions {
  database: Sqlite;
  /** The node that a hardware address belongs to. */
  nodeOf(mac: string): string | undefined;
  log: Log;
  now?: () => number;
  limits?: Partial<SeenLimits>;
}

interface SeenLimits {
  /** Machines without a node that are remembered. */
  strangers: number;
  /** New strangers: a rack that is powered on at once, not a flood of made-up addresses. */
  newStrangers: { perSecond: number; burst: number };
  /** How often what changed is written down, in milliseconds. */
  flushMs: number;
}

const usual: SeenLimits = { strangers: 4096, newStrangers: { perSecond: 5, burst: 1000 }, flushMs: 5000 };
/** A machine that is merely seen again is written down, and told to the centre, at most so often. */
const refreshMs = 60_000;
/** Machines that are written down at a time. */
const mostWritten = 500;

/**
 * Which machines are on this site's boot network? Kept in memory and written down every few seconds; of strangers only the newest, and
 * new ones only so many a second, so that a flood of spoofed addresses costs neither disk nor link.
 */
export class SeenMachines implements Closable {
  readonly #options: SeenMachinesOptions;
  readonly #limits: SeenLimits;
  readonly #now: () => number;
  readonly #table: ReturnType<typeof seenTable>;
  readonly #rate: RateLimiter;
  /** By id, in the order of the last sighting. */
  readonly #machines = new Map<string, SeenMachine>();
  readonly #idByMac = new Map<string, string>();
  /** Several machines may name one product UUID. */
  readonly #idsByUuid = new Map<string, Set<string>>();
  readonly #unwritten = new Set<string>();
  readonly #untold = new Set<string>();
  readonly #changedAt = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #ignored = 0;

  constructor(options: SeenMachinesOptions) {
    this.#options = options;
    this.#limits = { ...usual, ...options.limits };
    this.#now = options.now ?? Date.now;
    this.#table = seenTable(options.database);
    this.#rate = new RateLimiter(this.#limits.newStrangers);
    for (const machine of this.#table.all()) {
      this.#index(machine);
      this.#untold.add(machine.machineId);
    }
    this.#timer = setInterval(() => this.flush(), this.#limits.flushMs);
  }

  /** Notes that a machine is there. */
  see(sighting: Sighting): void {
    const known = this.#find(sighting);
    if (known === undefined && !this.#admits(sighting.mac)) return;
    const machine = withSighting(known, sighting, this.#now());
    this.#index(machine);
    if (known === undefined || this.#isNews(known, machine)) this.#changed(machine.machineId);
    this.#dropStrangers();
  }

  /** All of them, the last seen first. */
  all(): SeenMachine[] {
    return [...this.#machines.values()].reverse();
  }

  /** Sightings of strangers that were passed over, because too many new ones came. */
  get ignored(): number {
    return this.#ignored;
  }

  /** Machines that the centre has not been told of, or not as they are now. */
  untold(limit: number): SeenMachine[] {
    const ids = this.#untold.values().take(limit).toArray();
    return ids.flatMap((id) => this.#machines.get(id) ?? []);
  }

  /** The centre has taken these; what changed meanwhile stays untold. */
  told(machines: readonly SeenMachine[]): void {
    for (const machine of machines)
      if (this.#machines.get(machine.machineId) === machine) this.#untold.delete(machine.machineId);
  }

  /** Writes down what changed. A failure is logged, and tried again at the next time. */
  flush(): void {
    if (this.#unwritten.size === 0) return;
    const ids = this.#unwritten.values().take(mostWritten).toArray();
    try {
      this.#table.write(ids, (id) => this.#machines.get(id));
      for (const id of ids) this.#unwritten.delete(id);
    } catch (error) {
      this.#options.log.error({ err: error }, 'the machines seen could not be written down');
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.flush();
  }

  /** The machine of this hardware address; one of another with the same product UUID may be the same machine. */
  #find(sighting: Sighting): SeenMachine | undefined {
    const own = this.#get(this.#idByMac.get(sighting.mac));
    const same = this.#sameMachine(sighting, own);
    if (same === undefined) return own;
    if (own === undefined) return same;
    this.#forget(own.machineId);
    this.#forget(same.machineId);
    return united(same, own);
  }

  #sameMachine({ mac, uuid, serial }: Sighting, own: SeenMachine | undefined): SeenMachine | undefined {
    const ids = uuid === undefined ? [] : [...(this.#idsByUuid.get(canonicalUuid(uuid)) ?? [])];
    const told = serial ?? own?.serial;
    return ids
      .flatMap((id) => this.#get(id) ?? [])
      .filter((other) => other !== own && (told === undefined || (other.serial ?? told) === told))
      .find((other) => mayBeOne(own?.macs ?? [mac], other.macs, this.#options.nodeOf));
  }

  #get(id: string | undefined): SeenMachine | undefined {
    return id === undefined ? undefined : this.#machines.get(id);
  }

  #admits(mac: string): boolean {
    if (this.#options.nodeOf(mac) !== undefined || this.#rate.take('strangers') === 0) return true;
    this.#ignored++;
    return false;
  }

  #index(machine: SeenMachine): void {
    const { machineId, macs, uuid } = machine;
    this.#machines.delete(machineId);
    this.#machines.set(machineId, machine);
    for (const mac of macs) this.#idByMac.set(mac, machineId);
    if (uuid !== undefined) this.#indexUuid(canonicalUuid(uuid), machineId);
  }

  #indexUuid(uuid: string, machineId: string): void {
    const ids = this.#idsByUuid.get(uuid) ?? new Set();
    // A UUID that so many name tells none of them.
    if (ids.size < mostMacs) this.#idsByUuid.set(uuid, ids.add(machineId));
  }

  /** Whether a sighting says more than that the machine is still there. */
  #isNews(known: SeenMachine, machine: SeenMachine): boolean {
    const last = this.#changedAt.get(machine.machineId) ?? 0;
    return this.#now() - last >= refreshMs || factsOf(known) !== factsOf(machine);
  }

  #changed(id: string): void {
    this.#changedAt.set(id, this.#now());
    this.#unwritten.add(id);
    this.#untold.add(id);
  }

  #forget(id: string): void {
    const machine = this.#machines.get(id);
    if (machine === undefined) return;
    this.#machines.delete(id);
    this.#changedAt.delete(id);
    this.#untold.delete(id);
    this.#unwritten.add(id);
    for (const mac of machine.macs) if (this.#idByMac.get(mac) === id) this.#idByMac.delete(mac);
    const uuid = machine.uuid && canonicalUuid(machine.uuid);
    const ids = uuid === undefined ? undefined : this.#idsByUuid.get(uuid);
    ids?.delete(id);
    if (uuid !== undefined && ids?.size === 0) this.#idsByUuid.delete(uuid);
  }

  /** A tenth at a time, so that not every sighting beyond the bound looks through all of them. */
  #dropStrangers(): void {
    const { strangers } = this.#limits;
    if (this.#machines.size <= strangers) return;
    const unknown = this.#machines
      .values()
      .filter(({ macs }) => !macs.some((mac) => this.#options.nodeOf(mac) !== undefined))
      .toArray();
    if (unknown.length <= strangers) return;
    const most = unknown.length - strangers + Math.floor(strangers / 10);
    for (const { machineId } of unknown.slice(0, most)) this.#forget(machineId);
  }
}

function factsOf({ lastSeen: _, ...facts }: SeenMachine): string {
  return JSON.stringify(facts);
}
