import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { RedfishClient, Resource } from './client.ts';
import type { Limits } from './limits.ts';
import { type BmcMemory, rememberOf } from './memory.ts';
import type { Machine } from './operations/powerState.ts';
import { findSystem } from './system.ts';
import { vendorOf } from './vendors/index.ts';
import { factsOf } from './vendors/vendor.ts';

/** What was read to find the system is an answer to the question that made us look for it, and to no later one. */
const freshForMs = 1000;

/** The one machine behind a BMC, and whose BMC it is. Found once; a failure is not kept. */
export class MachineFinder {
  readonly #client: RedfishClient;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #memory: BmcMemory;
  #found: Machine | undefined;

  constructor(client: RedfishClient, { clock, log, memory }: { clock: Clock; log: Log; memory: BmcMemory }) {
    this.#client = client;
    this.#clock = clock;
    this.#log = log;
    this.#memory = memory;
  }

  /** The machine, for a piece of work that ends by these limits. @throws as `findSystem` */
  async machine(limits: Limits): Promise<Machine> {
    const client = this.#client.within(limits);
    this.#found ??= await this.#find(client);
    return { ...this.#found, client };
  }

  async #find(client: RedfishClient): Promise<Machine> {
    const { root, system } = await findSystem(client);
    const facts = factsOf(root, system.body);
    const vendor = vendorOf(facts);
    rememberOf(this.#memory, [facts.manufacturer, facts.model, facts.firmwareVersion].join(' '));
    this.#log.debug({ vendor: vendor.name, system: system.path }, 'the BMC was recognised');
    const { path, body: links } = system;
    return { client, path, vendor, memory: this.#memory, links, takeFresh: this.#onceFresh(system) };
  }

  /** Gives the resource away once, while it is fresh. */
  #onceFresh(resource: Resource): () => Resource | undefined {
    const readAt = this.#clock.now();
    let fresh: Resource | undefined = resource;
    return () => {
      const taken = this.#clock.now() - readAt < freshForMs ? fresh : undefined;
      fresh = undefined;
      return taken;
    };
  }
}
