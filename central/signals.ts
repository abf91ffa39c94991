import { EventEmitter } from 'node:events';

/** Wake-ups: whoever changes something notifies its topic, and those who wait for it look again. */
export interface Signals {
  notify(...topics: string[]): void;
  /** Wakes everyone in this process who waits, whatever for. */
  notifyAll(): void;
  /**
   * Resolves with the first value of `check` that is not undefined, looking at once and after each notice on `topics`;
   * with undefined when `stop` aborts, at once too when it has: after one look.
   */
  until<Value>(
    topics: readonly string[],
    check: () => Promise<Value | undefined>,
    stop: AbortSignal,
  ): Promise<Value | undefined>;
}

/** Notified when images, pools or signers changed: every site's desired state may have. The same for the centre's keys and the revoked. */
export const allSites = 'sites';
/** Notified when a token was revoked: who waits looks whether its own still is good. */
export const tokensTopic = 'tokens';
export const siteTopic = (siteId: string) => `site:${siteId}`;
/** Notified when a machine that nobody enrolled booted at the site. */
export const discoveryTopic = (siteId: string) => `discovery:${siteId}`;
export const nodeTopic = (nodeId: string) => `node:${nodeId}`;
export const operationTopic = (operationId: string) => `operation:${operationId}`;
export const workflowTopic = (workflowId: string) => `workflow:${workflowId}`;

/** Signals within one process. */
export function openSignals(): Signals {
  const emitter = new EventEmitter().setMaxListeners(0);
  return {
    notify: (...topics) => {
      for (const topic of topics) emitter.emit(topic);
    },
    notifyAll: () => {
      for (const topic of emitter.eventNames()) emitter.emit(topic);
    },
    until: async (topics, check, stop) => {
      do {
        // Listening starts before the look, so that a change in between is not missed.
        const notice = nextNotice(emitter, topics, stop);
        try {
          const found = await check();
          if (found !== undefined) return found;
          await notice.given;
        } finally {
          notice.forget();
        }
      } while (!stop.aborted);
      return undefined;
    },
  };
}

function nextNotice(emitter: EventEmitter, topics: readonly string[], stop: AbortSignal) {
  const { promise: given, resolve } = Promise.withResolvers<void>();
  const wake = () => resolve();
  for (const topic of topics) emitter.on(topic, wake);
  stop.addEventListener('abort', wake);
  if (stop.aborted) wake();
  const forget = () => {
    for (const topic of topics) emitter.off(topic, wake);
    stop.removeEventListener('abort', wake);
  };
  return { given, forget };
}
