import type { SiteNode } from '#contract/nodeSpec.ts';
import type { GatheredEvents } from '../store/gatheredEvents.ts';

/** What an operator is asked to do with their hands. */
export interface Request {
  nodeId: string;
  mac?: string;
  /** A sentence without its end: `switch on node-1 (…)`. */
  text: string;
  /** ISO 8601. */
  askedAt: string;
  confirmed: boolean;
}

/** The requests that are open, by node: one at a time each. They live as long as the operation that asks. */
export interface Requests {
  /** Asks: in the machine's timeline, and at the centre by an alarm. */
  ask(node: SiteNode, text: string): Request;
  end(request: Request): void;
  open(): Request[];
  /** Takes an operator's word that it is done; undefined when nothing is asked of this node. */
  confirm(nodeId: string): Request | undefined;
}

export function createRequests(events: Pick<GatheredEvents, 'add'>, onEvent: () => void): Requests {
  const open = new Map<string, Request>();
  const tell = (type: 'operator.asked' | 'operator.done', { nodeId, mac }: Request, text: string) => {
    events.add({ type, nodeId, ...(mac !== undefined && { mac }), text });
    onEvent();
  };
  return {
    ask: (node, text) => {
      const { nodeId } = node;
      const [mac] = node.macs;
      const askedAt = new Date().toISOString();
      const request: Request = { nodeId, ...(mac !== undefined && { mac }), text, askedAt, confirmed: false };
      open.set(nodeId, request);
      tell(
        'operator.asked',
        request,
        `please ${text}; then confirm it: railhead nodes confirm ${nodeId}, or bcd site confirm ${nodeId} there`,
      );
      return request;
    },
    end: (request) => {
      if (open.get(request.nodeId) !== request) return;
      open.delete(request.nodeId);
      tell(
        'operator.done',
        request,
        request.confirmed ? `confirmed: ${request.text}` : `no longer asked: ${request.text}`,
      );
    },
    open: () => [...open.values()],
    confirm: (nodeId) => {
      const request = open.get(nodeId);
      if (request !== undefined) request.confirmed = true;
      return request;
    },
  };
}
