/** Which joined machines are there? A machine is present while it holds a long poll and for a while after its last word. */
export interface Presence {
  seen(nodeId: string): void;
  /** Counts a request that is being held open; returns how to say that it has ended. */
  hold(nodeId: string): () => void;
  /** Milliseconds since the machine's last word; 0 while it holds a request open. Counts from the start of this process. */
  silentFor(nodeId: string): number;
}

export function createPresence(now: () => number = Date.now): Presence {
  const startedAt = now();
  const lastSeen = new Map<string, number>();
  const held = new Map<string, number>();
  const seen = (nodeId: string) => void lastSeen.set(nodeId, now());
  return {
    seen,
    hold: (nodeId) => {
      held.set(nodeId, (held.get(nodeId) ?? 0) + 1);
      return () => {
        held.set(nodeId, (held.get(nodeId) ?? 1) - 1);
        seen(nodeId);
      };
    },
    silentFor: (nodeId) => ((held.get(nodeId) ?? 0) > 0 ? 0 : now() - (lastSeen.get(nodeId) ?? startedAt)),
  };
}
