import { Argument, Command } from 'commander';
import { loaders } from '#contract/loader.ts';
import { callAndPrint, listAndPrint, type TenantFlags } from './call.ts';
import { collect, integer } from './central/options.ts';
import { type CliEnvironment, tenantCommand } from './client.ts';
import { labelsIn } from './labels.ts';
import { consoleCommand } from './nodes/console.ts';
import { eventsCommand } from './nodes/events.ts';
import { redfishCommand } from './nodes/redfish.ts';
import { rotateBmcPasswordCommand } from './nodes/rotateBmcPassword.ts';
import { bootQuirksIn } from './quirks.ts';

/** `railhead nodes …`: the records of the machines. */
export function nodesCommand(environment: CliEnvironment): Command {
  const list = tenantCommand('list', "the tenant's nodes").action((flags: TenantFlags) =>
    listAndPrint(environment, flags, 'nodes.list', {
      input: { tenantId: flags.tenant },
      columns: [
        'nodeId',
        'siteId',
        'state',
        'role',
        'power',
        'health',
        'events',
        'macs',
        'workflowId',
        'alarms',
      ],
    }),
  );
  const label = nodeCommandOf('label', "set a machine's labels; those that are not given are taken away")
    .option('--label <name=value>', 'may be repeated', collect)
    .action((nodeId: string, { tenant: tenantId, label, ...flags }: TenantFlags & { label?: string[] }) =>
      callAndPrint(environment, flags, 'nodes.update', {
        tenantId,
        nodeId,
        labels: labelsIn('--label', label) ?? {},
      }),
    );
  const quirks = nodeCommandOf(
    'quirks',
    "set what a machine's firmware needs in boot replies; quirks that are not given are taken away",
  )
    .option(
      '--quirk <[class=]name>',
      'may be repeated; without a class, e.g. uefi-pxe, it is for all of them',
      collect,
    )
    .action((nodeId: string, { tenant: tenantId, quirk, ...flags }: TenantFlags & { quirk?: string[] }) =>
      callAndPrint(environment, flags, 'nodes.setBootQuirks', {
        tenantId,
        nodeId,
        bootQuirks: bootQuirksIn(quirk ?? []),
      }),
    );
  const vlan = nodeCommandOf('vlan', 'set the VLAN that a machine boots in; without --tag it boots in none')
    .option('--tag <number>', '1 to 4094', integer)
    .action((nodeId: string, { tenant: tenantId, tag, ...flags }: TenantFlags & { tag?: number }) =>
      callAndPrint(environment, flags, 'nodes.update', { tenantId, nodeId, vlan: tag ?? null }),
    );
  const loader = nodeCommandOf('loader', 'choose what its UEFI firmware is handed to boot over the network')
    .addArgument(new Argument('<loader>', 'auto: by whether Secure Boot is on').choices([...loaders, 'auto']))
    .action((nodeId: string, loader: string, { tenant: tenantId, ...flags }: TenantFlags) =>
      callAndPrint(environment, flags, 'nodes.setLoader', { tenantId, nodeId, loader }),
    );
  return new Command('nodes')
    .description('the records of the machines')
    .addCommand(nodeCommand(environment, 'get', 'one node'))
    .addCommand(list)
    .addCommand(eventsCommand(environment))
    .addCommand(label)
    .addCommand(loader)
    .addCommand(quirks)
    .addCommand(vlan)
    .addCommand(consoleCommand(environment))
    .addCommand(redfishCommand(environment))
    .addCommand(rotateBmcPasswordCommand(environment))
    .addCommand(
      nodeCommand(environment, 'confirm', 'say that what was asked to be done to a machine by hand is done'),
    )
    .addCommand(
      nodeCommand(
        environment,
        'acknowledge',
        'take the open alarms off the record: an operator has seen them',
      ),
    );
}

/** A command for one node; its method has the same name. */
function nodeCommand(environment: CliEnvironment, name: string, description: string): Command {
  return nodeCommandOf(name, description).action((nodeId: string, flags: TenantFlags) =>
    callAndPrint(environment, flags, `nodes.${name}`, { tenantId: flags.tenant, nodeId }),
  );
}

function nodeCommandOf(name: string, description: string): Command {
  return tenantCommand(name, description).argument('<node-id>');
}
