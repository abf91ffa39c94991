import { parseArgs } from 'node:util';
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

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => stop.abort(new Error(`stopped by ${signal}`)));

if (values.help) process.stdout.write(help);
else process.exitCode = await run();

async function run(): Promise<number> {
  try {
    return (await demo({ keep: values.keep, signal: stop.signal, output: process.stdout })) ? 0 : 1;
  } catch (error) {
    const { code, message } = toWireError(error);
    process.stderr.write(
      `demo: ${stop.signal.aborted ? String(stop.signal.reason) : `${code}: ${message}`}\n`,
    );
    if (code === 'INTERNAL' && !stop.signal.aborted) console.error(error);
    return 1;
  }
}
