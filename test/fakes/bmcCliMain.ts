import { bmcCli } from './bmcCli.ts';

// What a BMC's SSH starts for whoever logs in: the command line, on this terminal.
const { stdin, stdout } = process;
stdin.setRawMode(true);
const cli = bmcCli(JSON.parse(process.argv[2] ?? '{}'), (text) => void stdout.write(text));
stdin.on('data', cli.keys).on('end', () => process.exit());
