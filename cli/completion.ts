import { Argument, Command } from 'commander';
import { printLine } from './print.ts';

/** What may follow a command: the words after its name, by the path of names that leads to it (`''` is the program). */
type WordsByPath = ReadonlyMap<string, readonly string[]>;

const shells = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
type Shell = keyof typeof shells;

/** `railhead completion <shell>`: a script that completes commands, options and their choices. */
export function completionCommand(program: Command): Command {
  return new Command('completion')
    .description('print a completion script: source <(railhead completion bash)')
    .addArgument(new Argument('<shell>').choices(Object.keys(shells)))
    .action((shell: Shell) => printLine(shells[shell](program.name(), wordsByPath(program)).trimEnd()));
}

/** Every command of `program` with the words that can follow it: its commands, its options and the options' choices. */
export function wordsByPath(program: Command): WordsByPath {
  const words = new Map<string, string[]>();
  const visit = (command: Command, path: string): void => {
    words.set(path, wordsOf(command));
    for (const [option, choices] of choicesOf(command)) words.set(`${path} ${option}`.trim(), choices);
    for (const child of command.commands) visit(child, `${path} ${child.name()}`.trim());
  };
  visit(program, '');
  return words;
}

function wordsOf(command: Command): string[] {
  const options = command.createHelp().visibleOptions(command);
  return [
    ...command.commands.map((child) => child.name()),
    ...options.flatMap(({ long }) => (long === undefined ? [] : [long])),
  ];
}

function choicesOf({ options }: Command): [option: string, choices: string[]][] {
  return options.flatMap(({ long, argChoices }): [string, string[]][] =>
    long === undefined || argChoices === undefined ? [] : [[long, argChoices]],
  );
}

/** The words before the cursor become a path; an option before the cursor completes its choices, or a file. */
function bashScript(name: string, words: WordsByPath): string {
  return `_${name}() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} path= word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
${pathCases(words)}
    esac
  done
  case "\${path:+$path }$previous" in
${choiceCases(words)}
  esac
  case "$path" in
${wordCases(words)}
  esac
}
complete -o default -F _${name} ${name}
`;
}

/** zsh runs the functions of bash. */
function zshScript(name: string, words: WordsByPath): string {
  return `autoload -U +X bashcompinit && bashcompinit\n${bashScript(name, words)}`;
}

function fishScript(name: string, words: WordsByPath): string {
  const lines = commands(words).flatMap(([path, following]) => {
    const condition = `test (string join ' ' (commandline -opc)[2..] | string replace -ra ' ?--.*' '') = '${path}'`;
    return following.map((word) =>
      word.startsWith('--')
        ? `complete -c ${name} -n "${condition}" -l ${word.slice(2)}${fishChoices(words.get(`${path} ${word}`.trim()))}`
        : `complete -c ${name} -n "${condition}" -f -a ${word}`,
    );
  });
  return `${lines.join('\n')}\n`;
}

function fishChoices(choices: readonly string[] | undefined): string {
  return choices === undefined ? '' : ` -x -a '${choices.join(' ')}'`;
}

/** The entries that stand for commands, not for an option with choices. */
function commands(words: WordsByPath): [path: string, following: readonly string[]][] {
  return [...words].filter(([path]) => !path.includes('--'));
}

function pathCases(words: WordsByPath): string {
  const paths = commands(words).filter(([path]) => path !== '');
  return paths.map(([path]) => `      '${parent(path)} ${last(path)}') path='${path}' ;;`).join('\n');
}

function choiceCases(words: WordsByPath): string {
  const choices = [...words].filter(([path]) => path.includes('--'));
  return choices.map(([path, following]) => replyCase(path, following, 'return')).join('\n');
}

function wordCases(words: WordsByPath): string {
  return commands(words)
    .map(([path, following]) => replyCase(path, following, ''))
    .join('\n');
}

function replyCase(path: string, following: readonly string[], then: string): string {
  const reply = `COMPREPLY=($(compgen -W '${following.join(' ')}' -- "$current"))`;
  return `    '${path}') ${reply}${then === '' ? '' : `; ${then}`} ;;`;
}

function parent(path: string): string {
  return path.split(' ').slice(0, -1).join(' ');
}

function last(path: string): string {
  return path.split(' ').at(-1) ?? '';
}
