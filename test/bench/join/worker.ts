import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A process of its own that answers calls one after the other, with file descriptors for ten thousand connections. */
export interface Worker {
  call<Answer>(command: string, input?: object): Promise<Answer>;
  end(): Promise<void>;
}

/** What a worker can do, by command. */
export type Commands = Record<string, (input: never) => Promise<object>>;

const descriptors = 65_536;
/** A shell alone can raise the limit; where it may not go so far, the most that it may. */
const raised = `ulimit -n ${descriptors} 2>/dev/null || ulimit -n "$(ulimit -Hn)"; exec "$@"`;

export function startWorker(file: string, ...args: string[]): Worker {
  const command = [process.execPath, '--expose-gc', file, ...args];
  const child = spawn('sh', ['-c', raised, 'sh', ...command], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const died = exited.then(([status, signal]) => {
    throw new Error(`${file} ended with ${status ?? signal}`);
  });
  died.catch(() => {});
  return {
    call: async <Answer>(name: string, input: object = {}) => {
      const answered = once(child, 'message') as Promise<[{ error?: string; answer: Answer }]>;
      child.send({ name, input });
      const [{ error, answer }] = await Promise.race([answered, died]);
      if (error !== undefined) throw new Error(error);
      return answer;
    },
    end: async () => {
      child.kill();
      await exited;
    },
  };
}

/** The other side: answers the calls of the process that started this one, and ends with it. */
export function serveCommands(commands: Commands): void {
  process.on('message', ({ name, input }: { name: string; input: never }) => {
    (commands[name] as Commands[string])(input).then(
      (answer) => process.send?.({ answer }),
      (error: unknown) => process.send?.({ error: String((error as Error)?.stack ?? error) }),
    );
  });
  process.on('disconnect', () => process.exit());
}

/** V8's, with `--expose-gc`: the last resort gives free pages back too. */
const collect = globalThis.gc as ((options: object) => void) | undefined;

/** MiB of memory that this process has, after what nobody holds any more was collected. */
export async function residentMiB(): Promise<{ mib: number }> {
  for (let turn = 0; turn < 3; turn++) {
    collect?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return { mib: process.memoryUsage.rss() / 2 ** 20 };
}
