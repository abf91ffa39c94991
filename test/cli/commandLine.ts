import type { Command } from 'commander';
import { vi } from 'vitest';

/** Runs a command as the entry file would, and returns what it printed. A refused command line throws. */
export async function runCommand(command: Command, ...args: string[]): Promise<string> {
  const printed: string[] = [];
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    printed.push(String(chunk));
    return true;
  });
  try {
    forbidExit(command);
    await command.parseAsync(args, { from: 'user' });
  } finally {
    spy.mockRestore();
  }
  return printed.join('');
}

/** Commander ends the process on a bad command line; here it throws. */
function forbidExit(command: Command): void {
  command.exitOverride().configureOutput({ writeErr: () => {} });
  command.commands.forEach(forbidExit);
}
