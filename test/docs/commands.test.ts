import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { bcdProgram, type Modes } from '#agent/program.ts';
import { railheadProgram } from '#cli/program.ts';
import { pages } from './pages.ts';

const programs = { railhead: railheadProgram({}), bcd: bcdProgram({} as Modes) };

/** Lines of code blocks, and code in a sentence. */
function code(text: string): string[] {
  const blocks = Array.from(text.matchAll(/```[a-z]*\n([\s\S]*?)```/g), ([, block = '']) => block);
  const sentences = text.replace(/```[\s\S]*?```/g, '');
  return [
    ...blocks.flatMap((block) => block.replace(/\\\n/g, ' ').split('\n')),
    ...Array.from(sentences.matchAll(/`([^`]+)`/g), ([, words = '']) => words.replace(/\n/g, ' ')),
  ].map((line) => line.trim());
}

/** What a line asks of one of our programs that it does not have. */
function unknownWords(line: string): string[] {
  const [, name, rest = ''] = /^(?:sudo )?(?:bin\/)?(railhead|bcd) (.*)$/.exec(line) ?? [];
  if (name === undefined) return [];
  let command: Command = programs[name as keyof typeof programs];
  const unknown: string[] = [];
  for (const word of rest.split(/ [|#;&>]/)[0]?.match(/"[^"]*"|'[^']*'|[^\s[\](),]+/g) ?? []) {
    const named = word.split('|').map((one) => command.commands.find((child) => child.name() === one));
    if (word.startsWith('--')) unknown.push(...(hasFlag(command, word) ? [] : [word]));
    else if (named.every((one) => one !== undefined)) command = named[0] as Command;
    else if (isCommandName(word) && command.commands.length > 0) unknown.push(word);
  }
  return unknown;
}

/** Its own, one of those before it, or of the sub-command that is meant where none is named. */
function hasFlag(command: Command, word: string): boolean {
  const [flag] = word.split('=');
  if (flag === '--help' || flag === '--version') return true;
  const of = ({ options }: Command) => options.some(({ long }) => long === flag);
  return (
    [command, ...command.commands].some(of) || (command.parent !== null && hasFlag(command.parent, word))
  );
}

function isCommandName(word: string): boolean {
  return /^[a-z][a-zA-Z-]*(\|[a-z][a-zA-Z-]*)*$/.test(word);
}

test.each([...pages])('every command in %s is there, with its flags', (_file, text) => {
  const wrong = code(text).flatMap((line) => unknownWords(line).map((word) => `${line}: ${word}`));
  expect(wrong).toEqual([]);
});

test('a command or a flag that is not there is found', () => {
  expect(unknownWords('railhead nodes paint')).toEqual(['paint']);
  expect(unknownWords('sudo bcd site machines --loudly | less')).toEqual(['--loudly']);
});
