import { visible } from '#base/visible.ts';
import type { OutputFormat } from '../client.ts';
import { printLine } from '../print.ts';

/** An event of a node, as the API answers it. */
export interface NodeEvent {
  at: string;
  type: string;
  text: string;
  data?: { recordingId?: string };
}

/** Prints an event: a row, or several where a machine printed several lines, or as a document. */
export function printNodeEvent(event: NodeEvent, format: OutputFormat): void {
  const rows = event.text.split('\n').map(visible);
  if (format === 'json') printLine(JSON.stringify(event));
  else for (const row of rows) printLine(`${event.at}  ${event.type.padEnd(18)}  ${row}`);
}

/** Prints what a console printed, as it was; what happened to the recording, as a remark on standard error. */
export function printConsole({ type, text }: NodeEvent): void {
  const lines = text.split('\n').map(visible);
  if (type === 'console.output') for (const line of lines) printLine(line);
  else process.stderr.write(`[${lines.join(' ')}]\n`);
}
