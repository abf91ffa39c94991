import { type Command, InvalidArgumentError } from 'commander';

interface ConsoleFlags {
  config: string;
  readOnly?: true;
  take?: true;
  force?: true;
  record?: string;
  endRecording?: true;
  attach: boolean;
}

/** `bcd site console NODE`: the serial console of a machine, by its BMC, through the agent that runs here. */
export function addConsole(site: Command): void {
  site
    .command('console')
    .description("join the serial console of a machine; ^] leaves it; the agent's log says who had it")
    .argument('<node-id>')
    .option('--read-only', 'type nothing')
    .option('--take', 'take the keyboard from whoever has it here')
    .option('--force', 'end the session that somebody else has with the BMC')
    .option(
      '--record <duration>',
      "keep what it prints in the machine's timeline for so long, e.g. 10m; goes on when you leave",
      durationOf,
    )
    .option('--no-attach', 'with --record: only that')
    .option('--end-recording', 'end what is recorded of it')
    .action((nodeId: string, _flags: unknown, command: Command) =>
      joinConsole(nodeId, command.optsWithGlobals()),
    );
}

function durationOf(text: string): string {
  if (/^[1-9]\d{0,4}[smh]$/.test(text)) return text;
  throw new InvalidArgumentError('write a whole number and s, m or h, at most 24h.');
}

async function joinConsole(nodeId: string, flags: ConsoleFlags): Promise<void> {
  const { readConfig } = await import('../config.ts');
  const { localSocket } = await import('../localSocket.ts');
  const { localAgent } = await import('./cache/localAgent.ts');
  const { attach } = await import('../console/attach.ts');
  const socketPath = localSocket(await readConfig(flags.config));
  const agent = localAgent(socketPath);
  const path = `/v1/nodes/${encodeURIComponent(nodeId)}`;
  if (flags.endRecording) {
    await agent.post(`${path}/recording/end`);
    return;
  }
  if (flags.record !== undefined) {
    const wish = { for: flags.record };
    const { until } = await agent.post<{ until: string }>(`${path}/recording`, wish);
    process.stderr.write(`recorded until ${until}\n`);
    if (!flags.attach) return;
  }
  const { readOnly, take, force } = flags;
  await attach(socketPath, `${path}/console`, { readOnly, take, force });
}
