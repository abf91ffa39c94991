import type { WorkflowEvent } from '../line/deployment.ts';

/** A machine's way from the order to the OS, one line an event, in seconds since the first. */
export function timeline(machine: string, events: readonly WorkflowEvent[]): string[] {
  const start = Date.parse(events[0]?.at ?? '');
  const inOrder = events.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  return [`Timeline of ${machine}:`, ...inOrder.map((event) => timelineLine(event, start))];
}

function timelineLine({ at, type, text }: WorkflowEvent, start: number): string {
  const seconds = ((Date.parse(at) - start) / 1000).toFixed(1).padStart(7);
  return `${seconds} s  ${type.padEnd(20)} ${text}`;
}
