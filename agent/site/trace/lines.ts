import { visible } from '#base/visible.ts';
import type { SiteEvent } from '#contract/agentWire.ts';
import { adviseOn, type BootStep, type BootStepFact } from './advice.ts';

/** One line of a trace: an event, or advice about the boot it is in. */
export interface TraceLine {
  at: string;
  bootId?: string;
  type: string;
  text: string;
}

/**
 * Turns the events of one machine, as they come, into lines. Advice comes right after the event that shows it, or when silence has
 * lasted; each once in a boot.
 */
export class Tracer {
  #bootId: string | undefined;
  #steps: BootStep[] = [];
  #told = new Set<string>();

  /** Lines for an event. Their advice is as of the event: what came next in the meantime would have silenced it. */
  add(event: SiteEvent): TraceLine[] {
    const { at, bootId } = event;
    // Silence before this event, seen only now.
    const late = this.advice(Date.parse(at));
    if (bootId !== undefined && bootId !== this.#bootId) this.#begin(bootId);
    const fact = factOf(event);
    if (fact !== undefined) this.#steps.push({ at: Date.parse(at), fact });
    const line = { at, ...(bootId !== undefined && { bootId }), type: event.type, text: wordsOf(event) };
    return [...late, line, ...this.advice(Date.parse(at))];
  }

  /** Advice that is due at `now` and was not given yet. */
  advice(now: number): TraceLine[] {
    const fresh = adviseOn(this.#steps, now).filter(({ pattern }) => !this.#told.has(pattern));
    for (const { pattern } of fresh) this.#told.add(pattern);
    return fresh.map(({ text }) => ({
      at: new Date(now).toISOString(),
      ...(this.#bootId !== undefined && { bootId: this.#bootId }),
      type: 'advice',
      text,
    }));
  }

  #begin(bootId: string): void {
    this.#bootId = bootId;
    this.#steps = [];
    this.#told = new Set();
  }
}

function factOf(event: SiteEvent): BootStepFact | undefined {
  if (event.type === 'agent.joined') return { step: 'joined' };
  return 'fact' in event ? event.fact : undefined;
}

function wordsOf(event: SiteEvent): string {
  if ('text' in event) return event.text;
  if (event.type === 'agent.joined') return `the ramdisk has joined, trusted as far as ${event.trust}`;
  if (event.type === 'agent.lost') return 'the ramdisk is gone';
  return `seen for the first time${event.uuid === undefined ? '' : `, product UUID ${event.uuid}`}`;
}

/** A line as it is printed: time, what, words; of several lines of words those after the first stand below it. */
export function printed({ at, type, text: words }: TraceLine): string {
  const clock = at.slice(11, 23);
  // What BMCs and machines say of themselves is read in a terminal.
  const text = words
    .split('\n')
    .map(visible)
    .join(`\n${' '.repeat(33)}`);
  return type.endsWith('advice') ? `${clock}   -> ${text}` : `${clock}  ${type.padEnd(18)} ${text}`;
}
