import { type Command, Option } from 'commander';
import { WipeMode } from '#contract/wipe.ts';
import { callAndPrint, given, type TenantFlags } from '../call.ts';
import { integer } from '../central/options.ts';
import { type CliEnvironment, tenantCommand } from '../client.ts';

interface DeployFlags extends TenantFlags {
  profile: string;
  profileVersion?: number;
  diskSerial?: string;
  diskWwn?: string;
  diskName?: string;
  diskSize?: number;
}

/** `railhead metal deploy`: runs a profile that writes an image. */
export function deployCommand(environment: CliEnvironment): Command {
  return tenantCommand('deploy', 'run a profile on a machine')
    .argument('<node-id>')
    .requiredOption('--profile <profile-id>', 'which profile')
    .option('--profile-version <version>', 'default: the latest', integer)
    .option('--disk-serial <serial>', 'write the disk with this serial number')
    .option('--disk-wwn <wwn>', 'write the disk with this WWN')
    .option('--disk-name <name>', 'write the disk of this kernel name')
    .option('--disk-size <bytes>', 'write the disk of exactly this size', integer)
    .action((nodeId: string, flags: DeployFlags) =>
      callAndPrint(environment, flags, 'metal.deploy', deployInput(nodeId, flags)),
    );
}

function deployInput(nodeId: string, flags: DeployFlags): object {
  const { tenant: tenantId, profile: profileId, profileVersion } = flags;
  const { diskSerial: serial, diskWwn: wwn, diskName: name, diskSize: sizeBytes } = flags;
  const hints = given({ serial, wwn, name, sizeBytes });
  const disk = Object.keys(hints).length === 0 ? undefined : hints;
  return given({ tenantId, nodeId, profileId, profileVersion, disk });
}

/** `railhead metal undeploy`: wipes a machine and takes it back. */
export function undeployCommand(environment: CliEnvironment): Command {
  return tenantCommand('undeploy', 'wipe a machine and take it back')
    .argument('<node-id>')
    .addOption(new Option('--mode <mode>', 'how to wipe; default secure-erase').choices([...WipeMode.enum]))
    .action((nodeId: string, { tenant: tenantId, mode, ...flags }: TenantFlags & { mode?: string }) =>
      callAndPrint(environment, flags, 'metal.undeploy', given({ tenantId, nodeId, mode })),
    );
}
