import { visible } from '#base/visible.ts';
import { printLine } from '../print.ts';

/** An event of a recording, as the API answers it. */
export interface ConsoleEvent {
  type: string;
  text: string;
  data?: { recordingId?: string; until?: string };
}

/** Prints what a console printed, as it was; what happened to the recording, as a remark on standard error. */
export function printConsole({ type, text }: ConsoleEvent): void {
  const lines = text.split('\n').map(visible);
  if (type === 'console.output') for (const line of lines) printLine(line);
  else process.stderr.write(`[${lines.join(' ')}]\n`);
}
