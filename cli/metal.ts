import { Command, Option } from 'commander';
import { PowerAction } from '#contract/steps.ts';
import { callAndPrint, type TenantFlags } from './call.ts';
import { type CliEnvironment, tenantCommand } from './client.ts';
import { deployCommand, undeployCommand } from './metal/deploy.ts';
import { enrollCommand } from './metal/enroll.ts';
import { setBmcCommand } from './metal/setBmc.ts';

/** Methods that are told nothing but the node, each a command of the same name. */
const plainMethods = {
  inspect: 'boot the ramdisk and read what the machine is made of',
  commission: 'test a machine, wipe its disks and make it ready',
  rescue: 'boot the ramdisk of a running machine, to look at it',
  unrescue: 'boot the disk again',
  retire: 'wipe a machine and revoke its identity, for good',
} as const;

/** `railhead metal …`: what is done to machines. */
export function metalCommand(environment: CliEnvironment): Command {
  const plain = Object.entries(plainMethods).map(([name, description]) =>
    nodeCommand(environment, name, description),
  );
  const commands = [
    enrollCommand(environment),
    setBmcCommand(environment),
    confirmMacCommand(environment),
    deployCommand(environment),
    undeployCommand(environment),
    ...plain,
    powerCommand(environment),
  ];
  return commands.reduce(
    (command, sub) => command.addCommand(sub),
    new Command('metal').description('what is done to machines'),
  );
}

function nodeCommand(environment: CliEnvironment, name: string, description: string): Command {
  return tenantCommand(name, description)
    .argument('<node-id>')
    .action((nodeId: string, flags: TenantFlags) =>
      callAndPrint(environment, flags, `metal.${name}`, { tenantId: flags.tenant, nodeId }),
    );
}

function confirmMacCommand(environment: CliEnvironment): Command {
  return tenantCommand(
    'confirm-mac',
    'bind a hardware address that was discovered to a machine known by its UUID',
  )
    .argument('<node-id>')
    .argument('<mac>')
    .action((nodeId: string, mac: string, flags: TenantFlags) =>
      callAndPrint(environment, flags, 'metal.confirmMac', { tenantId: flags.tenant, nodeId, mac }),
    );
}

function powerCommand(environment: CliEnvironment): Command {
  return tenantCommand('power', "drive a machine's power through its BMC")
    .argument('<node-id>')
    .addOption(
      new Option('--action <action>', 'what to do').choices([...PowerAction.enum]).makeOptionMandatory(),
    )
    .action((nodeId: string, { tenant: tenantId, action, ...flags }: TenantFlags & { action: string }) =>
      callAndPrint(environment, flags, 'metal.power', { tenantId, nodeId, action }),
    );
}
