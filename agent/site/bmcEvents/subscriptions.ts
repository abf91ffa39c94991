import { ignore } from '#base/errors.ts';
import { Slots } from '#base/slots.ts';
import type { BmcEventsWay } from '#contract/bmcHealth.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import type { SiteState } from '../store/state.ts';
import { Listening, type ListeningParts } from './listening.ts';

export interface SubscriptionsParts extends ListeningParts {
  state: Pick<SiteState, 'spec' | 'bmcHooks'>;
}

/** How the BMCs of a site tell of what happens. */
export interface Subscriptions {
  wayOf(nodeId: string): BmcEventsWay;
  /** Whether what happens at a node's BMC is told to us. */
  isAlive(nodeId: string): boolean;
  /** A node's BMC has posted an event. */
  delivered(nodeId: string): void;
  close(): Promise<void>;
}

/** A start listens to nobody at once: 50 BMCs a second. */
const eachMs = 20;
/** The end of an agent does not wait longer for BMCs that do not answer. */
const closingMs = 10_000;

/** Listens to every Redfish BMC of the site, and to none that has left it. */
export function keepSubscriptions(parts: SubscriptionsParts): Subscriptions {
  const { state } = parts;
  const all = new Map<string, Listening>();
  const ending = new Map<string, Promise<void>>();
  let closed = false;
  const begin = (node: SiteNode, spreadMs: number) =>
    all.set(node.nodeId, new Listening(node, Math.random() * spreadMs, parts));
  const listenedTo = () =>
    (state.spec.current()?.site?.nodes ?? []).filter(({ bmc }) => bmc?.driver === 'redfish');
  /** What the BMC of a machine that has left posts is no hint any more. */
  const forgetGone = () => {
    if (!closed) state.bmcHooks.retain([...listenedTo().map(({ nodeId }) => nodeId), ...ending.keys()]);
  };
  const tick = () => {
    const nodes = listenedTo();
    const known = new Map(nodes.map((node) => [node.nodeId, node]));
    for (const [nodeId, listening] of all) {
      const node = known.get(nodeId);
      if (node !== undefined && addressOf(node) === addressOf(listening.node)) {
        listening.node = node;
        continue;
      }
      all.delete(nodeId);
      // A node whose BMC is another is listened to again once the old one has forgotten us.
      ending.set(
        nodeId,
        listening.close({ forget: true }).finally(() => {
          ending.delete(nodeId);
          forgetGone();
        }),
      );
    }
    const fresh = nodes.filter(({ nodeId }) => !all.has(nodeId) && !ending.has(nodeId));
    for (const node of fresh) begin(node, fresh.length * eachMs);
    if (fresh.length > 0) forgetGone();
  };
  tick();
  const timer = setInterval(tick, 1000);
  timer.unref();
  return {
    wayOf: (nodeId) => all.get(nodeId)?.way ?? 'poll',
    isAlive: (nodeId) => all.get(nodeId)?.isAlive ?? false,
    delivered: (nodeId) => all.get(nodeId)?.delivered(),
    close: async () => {
      closed = true;
      clearInterval(timer);
      const slots = new Slots(20);
      const closing = [
        ...[...all.values()].map((one) => slots.run(() => one.close({ forget: true }))),
        ...ending.values(),
      ];
      const limit = Promise.withResolvers<void>();
      const late = setTimeout(limit.resolve, closingMs);
      await Promise.race([Promise.all(closing).catch(ignore), limit.promise]);
      clearTimeout(late);
    },
  };
}

/** Another address, secret or pin is another BMC to listen to. */
function addressOf({ bmc, bmcSecret }: SiteNode): string {
  return JSON.stringify([bmc, bmcSecret]);
}
