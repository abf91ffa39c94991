import { spawn } from 'node:child_process';
import path from 'node:path';
import { fromPyPi, type PythonSoftware } from './pyPi.ts';

const version = '4.32.5';

/** Where it is; undefined, after saying why, where it is not to be had. */
export async function schemathesis(): Promise<PythonSoftware | undefined> {
  try {
    return await fromPyPi(`schemathesis-${version}`, [`schemathesis==${version}`]);
  } catch (error) {
    console.error(
      `schemathesis is not to be had, so the API is not fuzzed here: ${(error as Error).message}`,
    );
    return undefined;
  }
}

/** What every answer is held against; stateful runs are left out, whose mutated bodies are reported as accepted when they were not sent. */
const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
];

export interface Fuzzed {
  ok: boolean;
  /** What it found, and the command that repeats it. */
  output: string;
}

/** Fuzzes the API at `apiUrl` for about `seconds`. */
export async function fuzz(
  { python, bin }: PythonSoftware,
  apiUrl: string,
  token: string,
  seconds: number,
): Promise<Fuzzed> {
  // The same requests in every run: what CI checks must not depend on chance.
  const bounds = [
    '--seed',
    '1',
    '--max-time',
    `${seconds}`,
    '--phases',
    'coverage,fuzzing',
    '--continue-on-failure',
    // Longer than a call that waits for news may be held.
    '--request-timeout',
    '70',
  ];
  const args = [
    'run',
    `${apiUrl}/openapi.json`,
    '-H',
    `Authorization: Bearer ${token}`,
    '-c',
    checks.join(','),
  ];
  const child = spawn(python, [path.join(bin, 'schemathesis'), ...args, ...bounds, '--no-color'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: path.dirname(bin),
    timeout: (seconds + 120) * 1000,
  });
  let output = '';
  for await (const text of child.stdout.setEncoding('utf8')) output += text;
  const status =
    child.exitCode ?? (await new Promise<number | null>((resolve) => child.once('exit', resolve)));
  return { ok: status === 0, output };
}
