import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import type { BootOverride } from '#rack/machine/bootOverride.ts';
import type { EndOfRun } from '#rack/machine/endOfRun.ts';
import type { QemuRun } from '#rack/machine/qemuRun.ts';
import type { Qmp } from '#rack/qmp/client.ts';

/** A QEMU that obeys without running anything: it notes the commands and ends when told to. */
export interface FakeRun extends QemuRun {
  override: BootOverride;
  commands: string[];
  /** The guest powers off (`off`), resets (`restart`), or QEMU dies (`off`). */
  end(end: EndOfRun): Promise<void>;
}

export function fakeRun(override: BootOverride): FakeRun {
  const commands: string[] = [];
  const { promise: ended, resolve } = Promise.withResolvers<EndOfRun>();
  const execute = async (command: string) => {
    commands.push(command);
    if (command === 'system_reset') resolve('restart');
  };
  const qmp = Object.assign(new EventEmitter(), { execute }) as unknown as Qmp;
  const end = async (how: EndOfRun) => {
    resolve(how);
    await ended;
  };
  const console = { output: new PassThrough(), input: new PassThrough() };
  return { qmp, console, ended, override, commands, end, kill: () => end('off') };
}

/** Starts fake runs and keeps them, the last one last. */
export class FakeQemu {
  readonly runs: FakeRun[] = [];
  failure: Error | undefined;

  readonly start = async (override: BootOverride): Promise<QemuRun> => {
    if (this.failure !== undefined) throw this.failure;
    const run = fakeRun(override);
    this.runs.push(run);
    return run;
  };

  get last(): FakeRun {
    const run = this.runs.at(-1);
    if (run === undefined) throw new Error('nothing was started');
    return run;
  }
}
