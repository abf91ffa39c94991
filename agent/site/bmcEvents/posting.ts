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
  readonly #node: SiteNode;
  readonly #parts: PostingParts;
  #isOn = false;
  #delivers = false;

  constructor(node: SiteNode, parts: PostingParts) {
    this.#node = node;
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
    const { nodeId } = this.#node;
    const before = this.#isOn;
    this.#isOn = false;
    if (hooks.placeOf(nodeId) !== hook.prefix) await this.unsubscribe();
    // Before it is done: whatever ends this process, the subscription is found again.
    hooks.keepPlace(nodeId, hook.prefix);
    const done = await bmcs.use(this.#node, async (bmc) => bmc.events?.subscribe(hook));
    if (done === undefined || done === 'unsupported') {
      hooks.keepPlace(nodeId, undefined);
      return 'unsupported';
    }
    this.#isOn = true;
    if (done === 'made' || !before) this.#delivers = false;
    return done;
  }

  /** Deletes what the BMC has of it, if it may have anything. */
  async unsubscribe(): Promise<void> {
    const { bmcs, hooks, log } = this.#parts;
    const { nodeId } = this.#node;
    const place = hooks.placeOf(nodeId);
    this.#isOn = false;
    if (place === undefined) return;
    try {
      await bmcs.use(this.#node, async (bmc) => bmc.events?.unsubscribe(place));
      hooks.keepPlace(nodeId, undefined);
    } catch (error) {
      log.warn({ err: error, nodeId }, 'a subscription stays at a BMC');
    }
  }
}
