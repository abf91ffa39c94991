import { Command } from 'commander';
import { type CliEnvironment, type ClientFlags, tenantCommand, withApi } from './client.ts';
import { allPages } from './pages.ts';
import { printList, printRecord } from './print.ts';

type TenantFlags = ClientFlags & { tenant: string };

/** `railhead nodes …`: the records of the machines. */
export function nodesCommand(environment: CliEnvironment): Command {
  const get = tenantCommand('get', 'one node')
    .argument('<node-id>')
    .action(async (nodeId: string, flags: TenantFlags) => {
      const input = { tenantId: flags.tenant, nodeId };
      printRecord(
        await withApi(environment, flags, (call) => call<object>('nodes.get', input)),
        flags.format,
      );
    });
  const list = tenantCommand('list', "the tenant's nodes").action(async (flags: TenantFlags) => {
    const input = { tenantId: flags.tenant };
    const nodes = await withApi(environment, flags, (call) => allPages<object>(call, 'nodes.list', input));
    printList(nodes, ['nodeId', 'siteId', 'state', 'role', 'macs', 'workflowId'], flags.format);
  });
  const acknowledge = tenantCommand(
    'acknowledge',
    'take the open alarms off the record: an operator has seen them',
  )
    .argument('<node-id>')
    .action(async (nodeId: string, flags: TenantFlags) => {
      const input = { tenantId: flags.tenant, nodeId };
      printRecord(
        await withApi(environment, flags, (call) => call<object>('nodes.acknowledge', input)),
        flags.format,
      );
    });
  return new Command('nodes')
    .description('the records of the machines')
    .addCommand(get)
    .addCommand(list)
    .addCommand(acknowledge);
}
