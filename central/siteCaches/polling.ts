import { setTimeout as sleep } from 'node:timers/promises';
import { ignore } from '#base/errors.ts';
import type { Closable } from '#base/shutdown.ts';
import type { CentralContext } from '../context.ts';
import { noteAgent, recordInventory } from './inventory.ts';
import { type InventoryPlace, readInventory } from './inventoryClient.ts';

/** Sites that are asked at a time. */
const atATime = 8;

interface PolledSite extends InventoryPlace {
  siteId: string;
}

/**
 * Asks the sites that have an inventory URL what their caches hold, until it is closed. What they report by themselves says the same: either way
 * alone is enough. A site that does not answer is no failure of anything; the log says so once.
 */
export function startInventoryPolling(context: CentralContext): Closable {
  const stop = new AbortController();
  const polled = new Polled(context, stop.signal);
  const done = (async () => {
    while (!stop.signal.aborted) {
      await polled
        .askAll()
        .catch((error) => context.log.error({ err: error }, 'the inventories of sites were not read'));
      await sleep(context.times.inventoryEveryMs, undefined, { signal: stop.signal }).catch(ignore);
    }
  })();
  return {
    close: async () => {
      stop.abort();
      await done;
    },
  };
}

class Polled {
  readonly #context: CentralContext;
  readonly #signal: AbortSignal;
  /** What was read last, by site and URL. */
  readonly #etags = new Map<string, string>();
  readonly #silent = new Set<string>();

  constructor(context: CentralContext, signal: AbortSignal) {
    this.#context = context;
    this.#signal = signal;
  }

  async askAll(): Promise<void> {
    const sites = await this.#sites();
    while (sites.length > 0 && !this.#signal.aborted)
      await Promise.all(sites.splice(0, atATime).map((site) => this.#ask(site)));
  }

  async #sites(): Promise<PolledSite[]> {
    const rows = await this.#context.store
      .selectFrom('sites')
      .select(['site_id', 'inventory_url', 'inventory_pin'])
      .where('inventory_url', 'is not', null)
      .execute();
    return rows.flatMap(({ site_id: siteId, inventory_url: url, inventory_pin: pin }) =>
      url === null ? [] : [{ siteId, url, ...(pin !== null && { pin }) }],
    );
  }

  async #ask({ siteId, ...place }: PolledSite): Promise<void> {
    const { store, log } = this.#context;
    const agent = { agentId: siteId, siteId };
    const known = `${siteId} ${place.url}`;
    try {
      const found = await readInventory(place, this.#etags.get(known), this.#signal);
      if (found === 'unchanged') await noteAgent(store, agent);
      else await recordInventory(this.#context, agent, found.images);
      if (found !== 'unchanged' && found.etag !== undefined) this.#etags.set(known, found.etag);
      if (this.#silent.delete(known)) log.info({ siteId }, "a site's inventory is read again");
    } catch (error) {
      if (this.#signal.aborted || this.#silent.has(known)) return;
      this.#silent.add(known);
      log.warn({ siteId, url: place.url, err: error }, "a site's inventory cannot be read");
    }
  }
}
