import type { Command } from 'commander';

/** `bcd site trust-bmc NODE`: the way on after `pin-mismatch`, when an operator knows why the BMC shows something else. */
export function addTrustBmc(site: Command): void {
  site
    .command('trust-bmc')
    .description(
      "after a machine's BMC was replaced or reset: pin the certificate and the SSH host key that it shows next; the agent's log says who did",
    )
    .argument('<node-id>')
    .action((nodeId: string, _flags: unknown, command: Command) =>
      trustBmc(nodeId, command.optsWithGlobals()),
    );
}

interface Forgotten {
  certificate?: string;
  sshHostKeys: string[];
  /** What the node's record names, and stays. */
  named: Record<string, string>;
}

async function trustBmc(nodeId: string, flags: { config: string }): Promise<void> {
  const { readConfig } = await import('../config.ts');
  const { localSocket } = await import('../localSocket.ts');
  const { localAgent } = await import('./cache/localAgent.ts');
  const agent = localAgent(localSocket(await readConfig(flags.config)));
  const path = `/v1/nodes/${encodeURIComponent(nodeId)}/trust-bmc`;
  const { certificate, sshHostKeys, named } = await agent.post<Forgotten>(path);
  const forgotten = [certificate, ...sshHostKeys].filter((pin) => pin !== undefined);
  process.stdout.write(`forgotten: ${forgotten.join(', ') || 'nothing, none was pinned'}\n`);
  for (const [field, pin] of Object.entries(named))
    process.stdout.write(`stays, since the node's record at the centre names it: ${field} ${pin}\n`);
}
