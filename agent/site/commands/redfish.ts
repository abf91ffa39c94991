import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { RelayAnswer } from '#contract/redfishRelay.ts';

/** `bcd site redfish NODE GET /redfish/v1/…`: one request to a BMC through the agent that runs here. */
export function addRedfish(site: Command): void {
  site
    .command('redfish')
    .description("send one Redfish request to a machine's BMC; the agent's log says who did")
    .argument('<node-id>')
    .argument('<method>', 'GET, POST or PATCH')
    .argument('<path>', '/redfish/v1/…')
    .option('--body <file>', 'a JSON document')
    .action((nodeId: string, method: string, path: string, _flags: unknown, command: Command) =>
      relay({ nodeId, method, path }, command.optsWithGlobals()),
    );
}

interface Asked {
  nodeId: string;
  method: string;
  path: string;
}

async function relay(
  { nodeId, method, path }: Asked,
  flags: { config: string; body?: string },
): Promise<void> {
  const { readConfig } = await import('../config.ts');
  const { localSocket } = await import('../localSocket.ts');
  const { localAgent } = await import('./cache/localAgent.ts');
  const agent = localAgent(localSocket(await readConfig(flags.config)));
  const body = flags.body === undefined ? {} : { body: JSON.parse(await readFile(flags.body, 'utf8')) };
  const request = { method: method.toUpperCase(), path, ...body };
  const answer = await agent.post<RelayAnswer>(`/v1/bmc/${encodeURIComponent(nodeId)}/redfish`, request);
  process.stdout.write(`${JSON.stringify(answer, undefined, 2)}\n`);
}
