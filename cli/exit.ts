import { type Command, CommanderError } from 'commander';
import { visible } from '#base/visible.ts';
import { exitStatus, RailheadError, toWireError } from '#contract/errors.ts';
import { explained } from './failure.ts';

/** What the entry file says and ends with: lines for standard error, and the exit status. */
export interface Farewell {
  lines: string[];
  status: number;
}

/** Makes a bad command line an error like any other, so that one place decides what is said and with which status. */
export function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  command.commands.forEach(throwInsteadOfExit);
}

/** How a failed command ends. A fault of the program shows its stack only when `debug` is set. */
export function farewell(failure: unknown, debug: boolean): Farewell {
  // Commander has already printed what was wrong, or the help that was asked for.
  if (failure instanceof CommanderError) return { lines: [], status: failure.exitCode === 0 ? 0 : 2 };
  const error = explained(failure);
  if (!(error instanceof RailheadError))
    return { lines: faultLines(error, debug), status: exitStatus.INTERNAL };
  const { code, message, details } = toWireError(error);
  const facts = details === undefined ? [] : [JSON.stringify(details)];
  return { lines: [`railhead: ${code}: ${message}`, ...facts].map(visible), status: exitStatus[code] };
}

function faultLines(error: unknown, debug: boolean): string[] {
  const stack = String((error as Error | undefined)?.stack ?? error);
  if (debug) return ['railhead: INTERNAL: a fault of this program:', stack];
  const message = String((error as Error | undefined)?.message ?? error);
  return [
    `railhead: INTERNAL: a fault of this program: ${message}`,
    'run it again with RAILHEAD_DEBUG=1 to see where, and report that',
  ];
}

/** How it ends when standard output fails: a reader that has seen enough is no failure; a full disk is one. */
export function outputFarewell(error: NodeJS.ErrnoException): Farewell {
  if (error.code === 'EPIPE') return { lines: [], status: 0 };
  const lines = [`railhead: UNAVAILABLE: standard output cannot be written: ${error.message}`];
  return { lines, status: exitStatus.UNAVAILABLE };
}
