import { readFile } from 'node:fs/promises';
import { Command, InvalidArgumentError } from 'commander';
import { RailheadError } from '#contract/errors.ts';
import { attachConsole } from '#rack/attachConsole.ts';
import { machinePower } from '#rack/control.ts';
import { openRack, type RackDocument, rackUp } from '#rack/rack.ts';
import { parseMachine } from '#rack/spec.ts';
import { rackStatus, statusTable } from '#rack/status.ts';
import { rackDown } from '#rack/tearDown.ts';

interface DirectoryOption {
  directory: string;
}

/** Words for `power`, and the Redfish reset type that each stands for. */
const powerWords = {
  on: 'On',
  off: 'ForceOff',
  'graceful-off': 'GracefulShutdown',
  reset: 'ForceRestart',
  'graceful-restart': 'GracefulRestart',
  cycle: 'PowerCycle',
  nmi: 'Nmi',
} as const;

/** `railhead rack …`: the virtual rack, by hand. */
export function rackCommand(): Command {
  const rack = new Command('rack').description('virtual machines with BMCs, on a network of their own');
  rack.addCommand(upCommand());
  rack.addCommand(downCommand());
  rack.addCommand(statusCommand());
  rack.addCommand(powerCommand());
  rack.addCommand(consoleCommand());
  return rack;
}

function withDirectory(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option('--directory <path>', 'where the rack keeps its state', '.rack');
}

function upCommand(): Command {
  return withDirectory('up', 'build the rack; its machines are off')
    .option(
      '--machine <name:firmware:options>',
      'e.g. a:uefi:disk=8G,disk=4G@nvme,memory=1024; repeatable',
      collect,
      [],
    )
    .option('--spec <file>', 'a JSON file with prefix and machines, instead of --machine')
    .option('--prefix <text>', 'what the names of the network namespaces begin with (default: rh)')
    .option('--json', 'print the status as JSON')
    .action(async (options: UpOptions) => {
      const rack = await rackUp(await rackDocument(options), options.directory);
      await printStatus(rack.directory, options.json);
    });
}

interface UpOptions extends DirectoryOption {
  machine: unknown[];
  spec?: string;
  prefix?: string;
  json?: boolean;
}

function downCommand(): Command {
  return withDirectory('down', 'end and remove everything of the rack')
    .option('--keep', 'keep disks, NVRAM and logs for the next up')
    .option('--prefix <text>', 'of a rack whose directory was deleted', 'rh')
    .action(async ({ directory, prefix, keep }: DirectoryOption & { prefix: string; keep?: boolean }) => {
      const found = await rackDown(directory, prefix, { keepFiles: keep === true });
      console.log(found ? 'the rack is down' : 'there is no rack');
    });
}

function statusCommand(): Command {
  return withDirectory('status', 'show the machines')
    .option('--json', 'print JSON, credentials included')
    .action(({ directory, json }: DirectoryOption & { json?: boolean }) => printStatus(directory, json));
}

function powerCommand(): Command {
  return withDirectory('power', 'switch a machine')
    .argument('<name>')
    .argument('<action>', Object.keys(powerWords).join(', '), powerWord)
    .action(
      async (
        name: string,
        action: (typeof powerWords)[keyof typeof powerWords],
        { directory }: DirectoryOption,
      ) => {
        const rack = await openRack(directory);
        const { powerState } = await machinePower(rack.machine(name), action);
        console.log(powerState);
      },
    );
}

function consoleCommand(): Command {
  return withDirectory('console', "attach to a machine's serial console; ^] detaches")
    .argument('<name>')
    .option('--log', 'print what it has said so far instead')
    .action(async (name: string, { directory, log }: DirectoryOption & { log?: boolean }) => {
      const machine = (await openRack(directory)).machine(name);
      if (log === true) process.stdout.write(await readFile(machine.consoleLog));
      else await attachConsole(machine, process.stdin, process.stdout);
    });
}

async function printStatus(directory: string, json = false): Promise<void> {
  const status = await rackStatus(await openRack(directory));
  console.log(json ? JSON.stringify(status, null, 2) : statusTable(status));
}

async function rackDocument({ machine, spec, prefix }: UpOptions): Promise<RackDocument> {
  const document = spec === undefined ? {} : await readSpec(spec);
  return {
    ...document,
    ...(machine.length === 0 ? {} : { machines: machine }),
    ...(prefix === undefined ? {} : { prefix }),
  };
}

async function readSpec(file: string): Promise<RackDocument> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as RackDocument;
  } catch (cause) {
    throw new RailheadError(
      'INVALID_INPUT',
      `--spec ${file}: is no readable JSON file`,
      { path: file },
      cause,
    );
  }
}

function collect(text: string, machines: unknown[]): unknown[] {
  return [...machines, parseMachine(text)];
}

function powerWord(word: string): string {
  if (Object.hasOwn(powerWords, word)) return powerWords[word as keyof typeof powerWords];
  throw new InvalidArgumentError(`Use one of ${Object.keys(powerWords).join(', ')}.`);
}
