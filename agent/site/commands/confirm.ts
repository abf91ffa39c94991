import type { Command } from 'commander';

/** `bcd site confirm [NODE]`: what an operator was asked to do by hand is done. */
export function addConfirm(site: Command): void {
  site
    .command('confirm')
    .description(
      'say that what was asked to be done to a machine by hand is done; without a node, list what is asked',
    )
    .argument('[node-id]')
    .action((nodeId: string | undefined, _flags: unknown, command: Command) =>
      confirm(nodeId, command.optsWithGlobals()),
    );
}

interface Asked {
  nodeId: string;
  text: string;
  askedAt: string;
}

async function confirm(nodeId: string | undefined, flags: { config: string }): Promise<void> {
  const { readConfig } = await import('../config.ts');
  const { localSocket } = await import('../localSocket.ts');
  const { localAgent } = await import('./cache/localAgent.ts');
  const agent = localAgent(localSocket(await readConfig(flags.config)));
  if (nodeId === undefined) {
    const { requests } = await agent.get<{ requests: Asked[] }>('/v1/status');
    for (const asked of requests)
      process.stdout.write(`${asked.askedAt}  ${asked.nodeId}  please ${asked.text}\n`);
    return;
  }
  const path = `/v1/nodes/${encodeURIComponent(nodeId)}/confirm`;
  const { confirmed } = await agent.post<{ confirmed: string }>(path);
  process.stdout.write(`confirmed: ${confirmed}\n`);
}
