import type { SiteEvent } from '#contract/agentWire.ts';

/** An event as it is shown: without the join message, which holds a boot token and is for the centre alone. */
export function shownEvent(event: SiteEvent): object {
  if (event.type !== 'agent.joined') return event;
  const { join: _join, ...shown } = event;
  return shown;
}
