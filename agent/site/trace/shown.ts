import type { SiteEvent } from '#contract/agentWire.ts';

/** An event as it is shown: without the join message, which holds a boot token and is for the centre alone. */
export function shownEvent(event: SiteEvent): object {
  if (event.type !== 'agent.joined') return event;
  const { join: _join, ...shown } = event;
  return shown;
}

/** The same for whoever asks: what a console printed may be a password. */
export function shownToAnyone(event: SiteEvent): object {
  if (event.type !== 'console.output') return shownEvent(event);
  return { ...shownEvent(event), text: 'what the console printed: see `bcd site trace`, or the centre' };
}
