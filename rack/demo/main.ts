import { parseArgs } from 'node:util';
import { endDescendants } from '#base/descendants.ts';
import { stopRequest } from '#base/shutdown.ts';
import { toWireError } from '#contract/errors.ts';
import { demo } from './demo.ts';

const help = `npm run demo [-- --keep]

Builds a virtual rack with two empty machines, one UEFI and one BIOS, with a site agent and a centre; signs and registers
an OS image; powers both machines on through their BMCs and follows them until the OS on each disk answers HTTP.

  --keep   leave logs, disks and consoles in .rack/demo
`;

const { values } = parseArgs({
  options: {
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const signal = stopRequest();
if (values.help) process.stdout.write(help);
else process.exit(await run());

async function run(): Promise<number> {
  try {
    return (await demo({ keep: values.keep, signal, output: process.stdout })) ? 0 : 1;
  } catch (error) {
    endDescendants();
    const { code, message } = toWireError(error);
    process.stderr.write(`demo: ${signal.aborted ? signal.reason.message : `${code}: ${message}`}\n`);
    if (code === 'INTERNAL' && !signal.aborted) console.error(error);
    return 1;
  }
}
