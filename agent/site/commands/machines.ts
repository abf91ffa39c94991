import type { Command } from 'commander';
import type { ShownMachine } from './machinesTable.ts';

/** `bcd site machines`: who is on the boot network. */
export function addMachines(site: Command): void {
  site
    .command('machines')
    .description('list the machines that were seen on the boot network, the last one first')
    .option('--json', 'as JSON')
    .option('--unknown', 'only those that no node has the address of')
    .action((_flags: unknown, command: Command) => machines(command.optsWithGlobals()));
}

async function machines(flags: { config: string; json?: true; unknown?: true }): Promise<void> {
  const { readConfig } = await import('../config.ts');
  const { localSocket } = await import('../localSocket.ts');
  const { localAgent } = await import('./cache/localAgent.ts');
  const { machinesTable } = await import('./machinesTable.ts');
  const agent = localAgent(localSocket(await readConfig(flags.config)));
  const answer = await agent.get<{ machines: ShownMachine[] }>('/v1/discovery');
  const shown = answer.machines.filter(({ nodeId }) => !flags.unknown || nodeId === undefined);
  process.stdout.write(
    flags.json ? `${JSON.stringify(shown, undefined, 2)}\n` : machinesTable(shown, answer.machines),
  );
}
