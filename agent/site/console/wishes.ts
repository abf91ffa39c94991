import type { SiteNode } from '#contract/nodeSpec.ts';
import type { Recording } from '../store/recordings.ts';
import type { SiteState } from '../store/state.ts';

/** Who asks for what is in the desired state; anybody else is at this site. */
export const centre = 'the centre';
/** The clocks of centre and site may differ by so much. Milliseconds. */
const clocksMs = 5000;

/** What the centre wants recorded, as of its newest desired state. */
export function takeWishes({ spec, recordings }: Pick<SiteState, 'spec' | 'recordings'>): void {
  const now = Date.now();
  for (const { nodeId, recording } of spec.current()?.site?.nodes ?? []) {
    const until = recording === undefined ? 0 : Date.parse(recording.until);
    if (recording === undefined || until <= now) continue;
    recordings.wish({ recordingId: recording.recordingId, nodeId, until, askedBy: centre });
  }
}

/** Why a recording is not to go on; undefined when it is. */
export function whyOver(
  { recordingId, until, askedBy }: Recording,
  node: SiteNode | undefined,
): string | undefined {
  if (node === undefined) return 'the site has no such node any more';
  if (Date.now() >= until) return 'its time is up';
  if (askedBy !== centre || node.recording?.recordingId === recordingId) return undefined;
  return Date.now() >= until - clocksMs ? 'its time is up' : 'an operator has ended it';
}
