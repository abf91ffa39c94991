import { type Command, InvalidArgumentError, Option } from 'commander';

interface TraceFlags {
  config: string;
  since: number;
  json?: true;
  once?: true;
  pcap?: string;
}

/** `bcd site trace MAC`: how one machine boots, step by step, as it happens. */
export function addTrace(site: Command): void {
  site
    .command('trace')
    .description('follow the boots of one machine, with advice where they fail; ends with Ctrl-C')
    .argument('<mac>', 'the hardware address of the interface that boots')
    .addOption(
      new Option('--since <duration>', 'begin with what happened so long ago, e.g. 10m or 24h')
        .argParser(sinceOf)
        .default(10 * 60_000, '10m'),
    )
    .option('--json', 'one JSON document a line')
    .option('--pcap <file>', "write the machine's DHCP and TFTP packets from now on there, for Wireshark")
    .option('--once', 'print what there is and end')
    .action((mac: string, _flags: unknown, command: Command) => trace(mac, command.optsWithGlobals()));
}

function sinceOf(text: string): number {
  const match = /^(\d{1,6})(s|m|h)$/.exec(text);
  if (match === null) throw new InvalidArgumentError('write a whole number and s, m or h.');
  return Number(match[1]) * ({ s: 1000, m: 60_000, h: 3_600_000 }[match[2] as string] ?? 0);
}

async function trace(mac: string, flags: TraceFlags): Promise<void> {
  const { readConfig } = await import('../config.ts');
  const { localSocket } = await import('../localSocket.ts');
  const { localAgent } = await import('./cache/localAgent.ts');
  const { capture } = await import('../trace/capture.ts');
  const { follow } = await import('../trace/follow.ts');
  const { printed } = await import('../trace/lines.ts');
  const agent = localAgent(localSocket(await readConfig(flags.config)));
  const print = (text: string) => void process.stdout.write(`${text}\n`);
  if (flags.pcap !== undefined) void capture(agent, mac, flags.pcap).catch(complain);
  await follow(agent, mac, {
    since: Date.now() - flags.since,
    once: flags.once ?? false,
    tell: (line) => print(flags.json ? JSON.stringify(line) : printed(line)),
  });
}

function complain(error: Error): void {
  process.stderr.write(`the packets are not written any more: ${error.message}\n`);
}
