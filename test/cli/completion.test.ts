import { spawnSync } from 'node:child_process';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { apiCommands } from '#cli/api.ts';
import { completionCommand, wordsByPath } from '#cli/completion.ts';
import { runCommand } from './commandLine.ts';

const program = new Command('railhead');
for (const command of apiCommands({})) program.addCommand(command);

const script = await runCommand(completionCommand(program), 'bash');

/** What a real bash offers after these words; the last one is being typed. */
function offered(...words: string[]): string[] {
  const typed = `COMP_WORDS=(railhead "$@"); COMP_CWORD=$#; _railhead; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync('bash', ['-c', `${script}\n${typed}`, 'bash', ...words], {
    encoding: 'utf8',
  });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  return stdout.split('\n').filter((word) => word !== '');
}

test('bash completes groups, commands, options and the choices of an option', () => {
  expect(offered('im')).toEqual(['images']);
  expect(offered('images', 'reg')).toEqual(['register']);
  expect(offered('images', 'register', '--disk')).toEqual(['--disk-format']);
  expect(offered('images', 'register', '--disk-format', '')).toEqual(['raw', 'qcow2', 'iso']);
  expect(offered('images', 'list', '--tenant', 'root', '--format', 'y')).toEqual(['yaml']);
});

test('an argument that is no command keeps the command before it', () => {
  expect(offered('metal', 'deploy', 'node_1', '--prof')).toEqual(['--profile', '--profile-version']);
});

test('every shell gets every command', async () => {
  const names = program.commands.map((command) => command.name());
  for (const shell of ['bash', 'zsh', 'fish']) {
    const text = await runCommand(completionCommand(program), shell);
    for (const name of names) expect(text).toContain(name);
  }
  expect([...wordsByPath(program).keys()]).toContain('images promote');
});
