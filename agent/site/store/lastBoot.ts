import type { LastBoot } from '#bootserver/lastBoot.ts';
import type { Events } from './events.ts';

/** More steps than a boot has before its script. */
const newest = 100;

/** The boot that a machine was last in, as far as its timeline tells. */
export function lastBootOf(events: Pick<Events, 'lastBoot' | 'timeline'>, mac: string): LastBoot | undefined {
  const bootId = events.lastBoot(mac);
  if (bootId === undefined) return undefined;
  const ofBoot = events.timeline(mac, newest).filter((event) => 'bootId' in event && event.bootId === bootId);
  const steps = ofBoot.flatMap((event) =>
    'fact' in event && event.fact !== undefined && event.fact.step !== 'log'
      ? [{ at: Date.parse(event.at), fact: event.fact }]
      : [],
  );
  return { bootId, at: steps.at(-1)?.at ?? 0, facts: steps.map(({ fact }) => fact) };
}
