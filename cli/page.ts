import type { Argument, Command, Option } from 'commander';

const introduction = `# The command line

\`railhead <group> <command>\` calls the centre's API, works on the centre's host (\`central\`, \`signers\`), or builds what sites need. \`--help\`
after any command says the same as this page. It prints tables; \`--format json\` and \`--format yaml\` print every field.

    source <(railhead completion bash)    # or zsh; fish: railhead completion fish | source

The commands of the API take these, here and not repeated below:

| option | or from the environment | |
| --- | --- | --- |
| \`--server <url>\` | \`RAILHEAD_SERVER\` | base URL of the API |
| \`--token-file <file>\` | \`RAILHEAD_TOKEN\` holds the token | the bearer token |
| \`--ca <file>\` | \`RAILHEAD_CA\` names the file | the API's CA, PEM |
| \`--format <format>\` | | \`table\` (default), \`json\`, \`yaml\` |

A failure prints its code, a sentence that says what to do, and its facts as JSON; \`RAILHEAD_DEBUG=1\` shows where a fault of the program happened.

| exit status | |
| --- | --- |
| 0 | done |
| 1 | a fault of this program (\`INTERNAL\`) |
| 2 | a mistake in the command or its input (\`INVALID_INPUT\`, \`INVALID_CONFIG\`) |
| 3 | not allowed (\`UNAUTHENTICATED\`, \`FORBIDDEN\`) |
| 4 | not found (\`NOT_FOUND\`) |
| 5 | in the way of something (\`CONFLICT\`, \`INVALID_STATE\`, \`UNVERIFIED_WIPE\`) |
| 6 | not possible here, or the device failed (\`UNSUPPORTED\`, \`DRIVER_ERROR\`) |
| 7 | not now: try again (\`UNAVAILABLE\`, \`RATE_LIMITED\`) |
`;

/** Options that every command of the API has; the introduction tells of them. */
const shared = ['--server', '--token-file', '--ca', '--format'];

/** The text of `docs/cli.md`, made from the commands themselves. */
export function commandLinePage(program: Command): string {
  const groups = program.commands.map((group) => groupText(group));
  return `${[introduction, ...groups].join('\n').trimEnd()}\n`;
}

function groupText(group: Command): string {
  return [
    `## ${group.name()}\n`,
    `${sentence(group.description())}\n`,
    ...leaves(group, '').map(commandText),
  ].join('\n');
}

interface Leaf {
  path: string;
  command: Command;
}

/** The commands that do something, by their whole name. */
function leaves(command: Command, before: string): Leaf[] {
  const path = `${before} ${command.name()}`.trim();
  if (command.commands.length === 0) return [{ path, command }];
  return command.commands.flatMap((child) => leaves(child, path));
}

function commandText({ path, command }: Leaf): string {
  const words = [`railhead ${path}`, ...command.registeredArguments.map(argumentWord)].join(' ');
  const options = command.options.filter(({ long }) => long === undefined || !shared.includes(long));
  return [`### \`${words}\`\n`, `${sentence(command.description())}\n`, ...optionTable(options)].join('\n');
}

function argumentWord(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

function optionTable(options: readonly Option[]): string[] {
  if (options.length === 0) return [];
  const rows = options.map(
    (option) =>
      `| \`${option.flags}\` | ${need(option)} | ${escaped(option.description)}${choices(option)} |`,
  );
  return ['| option | default | |', '| --- | --- | --- |', ...rows, ''];
}

function need({ mandatory, defaultValue, defaultValueDescription }: Option): string {
  if (defaultValueDescription !== undefined) return `\`${defaultValueDescription}\``;
  if (defaultValue !== undefined) return `\`${String(defaultValue)}\``;
  return mandatory ? 'required' : '';
}

function choices({ argChoices }: Option): string {
  return argChoices === undefined ? '' : `: ${argChoices.map((choice) => `\`${choice}\``).join(', ')}`;
}

function sentence(text: string): string {
  const escapedText = escaped(text);
  return `${escapedText.charAt(0).toUpperCase()}${escapedText.slice(1)}.`;
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|');
}
