import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/** A program in the place of ipmitool: of what it is told it does the first rule that fits. */
export interface FaultyTool {
  program: string;
  /** The commands that it was started with. */
  commands(): Promise<string[]>;
}

export interface Rule {
  /** A shell pattern of the whole command line. */
  when: string;
  /** Shell commands, e.g. `echo 01; exit 0` or `sleep 60`; `$STATE` is a folder for what they keep. */
  does: string;
  /** Only the first so many times. */
  times?: number;
}

export async function faultyTool(rules: readonly Rule[]): Promise<FaultyTool> {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-tool-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const program = path.join(directory, 'ipmitool');
  const log = path.join(directory, 'log');
  await writeFile(log, '');
  const cases = rules.map(
    ({ when, does, times = 1_000_000 }, index) => `case "$*" in
${when})
  n=$(cat ${directory}/${index} 2>/dev/null || echo 0)
  if [ "$n" -lt ${times} ]; then
    echo $((n + 1)) >${directory}/${index}
    ${does}
  fi ;;
esac`,
  );
  await writeFile(
    program,
    `#!/bin/sh\nSTATE=${directory}\necho "$*" >>${log}\n${cases.join('\n')}\necho "no rule for $*" >&2\nexit 1\n`,
  );
  await chmod(program, 0o755);
  const lines = async () => (await readFile(log, 'utf8')).split('\n').filter((line) => line !== '');
  return {
    program,
    commands: async () => (await lines()).map((line) => line.replace(/^.* -R \d+ (-v )?/, '')),
  };
}
