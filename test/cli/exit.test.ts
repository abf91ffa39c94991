import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { farewell, throwInsteadOfExit } from '#cli/exit.ts';
import { errorStatus, exitStatus, RailheadError } from '#contract/errors.ts';

const failureOf = (...args: string[]) => {
  const program = new Command('railhead').configureOutput({ writeErr: () => {}, writeOut: () => {} });
  program.addCommand(new Command('images').requiredOption('--tenant <tenant>'));
  program.commands[0]?.configureOutput({ writeErr: () => {}, writeOut: () => {} });
  throwInsteadOfExit(program);
  return program.parseAsync(args, { from: 'user' }).then(
    () => undefined,
    (error: unknown) => error,
  );
};

test('help ends with 0, a mistake in the command line with 2, and neither is said twice', async () => {
  expect(farewell(await failureOf('--help'), false)).toEqual({ lines: [], status: 0 });
  expect(farewell(await failureOf('images', '--help'), false)).toEqual({ lines: [], status: 0 });
  expect(farewell(await failureOf('images'), false)).toEqual({ lines: [], status: 2 });
  expect(farewell(await failureOf('nothing'), false)).toEqual({ lines: [], status: 2 });
});

test('a refusal is said with its code and its facts, and ends with the status of its kind', () => {
  const refusal = new RailheadError('NOT_FOUND', 'there is no such image', { path: 'imageId' });
  expect(farewell(refusal, false)).toEqual({
    lines: ['railhead: NOT_FOUND: there is no such image', '{"path":"imageId"}'],
    status: 4,
  });
});

test('every code has an exit status from 1 to 7', () => {
  expect(Object.keys(exitStatus).sort()).toEqual(Object.keys(errorStatus).sort());
  for (const status of Object.values(exitStatus)) expect([1, 2, 3, 4, 5, 6, 7]).toContain(status);
});

test('a fault of the program shows its stack only when it is asked for', () => {
  const fault = new TypeError('cannot read');
  expect(farewell(fault, false).lines.join('\n')).not.toContain('    at ');
  expect(farewell(fault, false)).toMatchObject({ status: 1 });
  expect(farewell(fault, true).lines.join('\n')).toContain('    at ');
});

const railhead = path.resolve('bin/railhead');
const shell = (script: string) => spawnSync('bash', ['-c', script, 'bash', railhead], { encoding: 'utf8' });

test('a reader that has seen enough is no failure', () => {
  const { stdout, stderr } = shell('"$1" completion fish | head -1; echo "$PIPESTATUS"');
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^complete -c railhead .*\n0\n$/);
});

test('a full disk is told in a sentence', () => {
  const { stderr, status } = shell('"$1" completion fish > /dev/full');
  expect(stderr).toMatch(/^railhead: UNAVAILABLE: standard output cannot be written: .*no space left.*\n$/i);
  expect(status).toBe(7);
});
