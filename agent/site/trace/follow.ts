import type { SiteEvent } from '#contract/agentWire.ts';
import { type TraceLine, Tracer } from './lines.ts';

export interface FollowOptions {
  /** Events before this time are not told, in milliseconds. */
  since: number;
  /** Ends when everything there is was told. */
  once: boolean;
  tell(line: TraceLine): void;
}

interface Asked {
  get<Answer>(path: string): Promise<Answer>;
}

/** Short enough that silence is noticed soon. */
const waitSeconds = 5;

/** Tells the events of a machine as they happen, and advice. Ends only by `once`, or when the agent can no longer be asked. */
export async function follow(agent: Asked, mac: string, { since, once, tell }: FollowOptions): Promise<void> {
  const tracer = new Tracer();
  let after = 0;
  for (;;) {
    const wait = once ? 0 : waitSeconds;
    const path = `/v1/trace/${encodeURIComponent(mac)}?after=${after}&wait=${wait}`;
    const { events, last } = await agent.get<{ events: SiteEvent[]; last: number }>(path);
    const lines = events.flatMap((event) => tracer.add(event));
    const due = last === after ? tracer.advice(Date.now()) : [];
    for (const line of [...lines, ...due]) if (Date.parse(line.at) >= since) tell(line);
    if (once && last === after) return;
    after = last;
  }
}
