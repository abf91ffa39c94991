import type { WriteStream } from 'node:tty';
import { type MachineProgress, progressLine } from './progress.ts';

export interface Display {
  show(machines: readonly MachineProgress[]): void;
  end(): void;
}

/** A block of lines that is drawn over itself on a terminal; elsewhere a line each time a machine's phase changes. */
export function openDisplay(output: WriteStream): Display {
  return output.isTTY ? terminalDisplay(output) : plainDisplay(output);
}

function terminalDisplay(output: WriteStream): Display {
  let drawn = 0;
  return {
    show(machines) {
      if (drawn > 0) output.write(`\x1b[${drawn}A`);
      for (const machine of machines)
        output.write(`\x1b[2K${progressLine(machine).slice(0, output.columns)}\n`);
      drawn = machines.length;
    },
    end() {
      drawn = 0;
    },
  };
}

function plainDisplay(output: WriteStream): Display {
  const phases = new Map<string, string>();
  return {
    show(machines) {
      for (const machine of machines) {
        if (phases.get(machine.name) === machine.phase) continue;
        phases.set(machine.name, machine.phase);
        output.write(`${progressLine(machine)}\n`);
      }
    },
    end() {},
  };
}
