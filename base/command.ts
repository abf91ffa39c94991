import { execFile } from 'node:child_process';

export interface CommandOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  input?: string | Buffer;
  timeoutMs?: number;
  signal?: AbortSignal;
}

/** Raised when a program could not be started or ended with a status other than 0. */
export class CommandFailed extends Error {
  readonly program: string;
  readonly args: readonly string[];
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number | undefined;

  constructor(
    program: string,
    args: readonly string[],
    status: number | undefined,
    { stdout, stderr }: { stdout: string; stderr: string },
    cause: unknown,
  ) {
    super(
      `${program} ${args.join(' ')} failed${status === undefined ? '' : ` with status ${status}`}: ${stderr.trim()}`,
      { cause },
    );
    this.name = 'CommandFailed';
    this.program = program;
    this.args = args;
    this.status = status;
    this.stdout = stdout;
    this.stderr = stderr;
  }
}

/**
 * Runs a program to its end, without a shell, and returns its standard output.
 * @throws CommandFailed with what it wrote to standard error
 */
export function run(program: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  const { input, timeoutMs = 0, ...rest } = options;
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      args,
      { ...rest, timeout: timeoutMs, maxBuffer: 64 * 1024 * 1024, encoding: 'utf8' },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else
          reject(
            new CommandFailed(
              program,
              args,
              typeof error.code === 'number' ? error.code : undefined,
              { stdout, stderr: stderr || error.message },
              error,
            ),
          );
      },
    );
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}
