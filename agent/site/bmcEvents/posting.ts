import type { Log } from '#base/log.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import type { Hook } from '#redfish/events/events.ts';
import type { Bmcs } from '../operations/bmcs.ts';
import type { BmcHooks } from '../store/bmcHooks.ts';

export interface PostingParts {
  bmcs: Pick<Bmcs, 'use'>;
  hooks: Pick<BmcHooks, 'placeOf' | 'keepPlace'>;
  log: Log;
}

/** One BMC's subscription: that it posts its events to this site. What stands in the books outlives this process, so that none is left behind. */
export class Posting {
  readonly #nodeNow: () => SiteNode;
  readonly #parts: PostingParts;
  #isOn = false;
  #delivers = false;

  constructor(nodeNow: () => SiteNode, parts: PostingParts) {
    this.#nodeNow = nodeNow;
    this.#parts = parts;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  /** Whether anything came by it: a subscription that a firewall cuts off is none. */
  get delivers(): boolean {
    return this.#isOn && this.#delivers;
  }

  delivered(): void {
    this.#delivers = true;
  }

  /**
   * Makes it, or sees whether it is still there.
   * @throws as `BmcEvents.subscribe`
   */
  async subscribe(hook: Hook): Promise<'made' | 'kept' | 'unsupported'> {
    const { bmcs, hooks } = this.#parts;
    const node = this.#nodeNow();
    const before = this.#isOn;
    this.#isOn = false;
    // One at another URL would be found by nobody once this one is in the books.
    if (hooks.placeOf(node.nodeId) !== hook.prefix) await this.#delete();
    // Before it is done: whatever ends this process, the subscription is found again.
    hooks.keepPlace(node.nodeId, hook.prefix);
    const done = await bmcs.use(node, async (bmc) => bmc.events?.subscribe(hook));
    if (done === undefined || done === 'unsupported') {
      hooks.keepPlace(node.nodeId, undefined);
      return 'unsupported';
    }
    this.#isOn = true;
    if (done === 'made' || !before) this.#delivers = false;
    return done;
  }

  /** Deletes what the BMC has of it, if it may have anything. */
  async unsubscribe(): Promise<void> {
    this.#isOn = false;
    await this.#delete().catch((error: unknown) => {
      const { nodeId } = this.#nodeNow();
      this.#parts.log.warn({ err: error, nodeId }, 'a subscription stays at a BMC');
    });
  }

  async #delete(): Promise<void> {
    const { bmcs, hooks } = this.#parts;
    const node = this.#nodeNow();
    const place = hooks.placeOf(node.nodeId);
    if (place === undefined) return;
    await bmcs.use(node, async (bmc) => bmc.events?.unsubscribe(place));
    hooks.keepPlace(node.nodeId, undefined);
  }
}
