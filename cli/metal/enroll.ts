import type { Command } from 'commander';
import type { Credentials } from '#contract/secrets.ts';
import { callAndPrint, given, type TenantFlags } from '../call.ts';
import { collect, integer } from '../central/options.ts';
import { type CliEnvironment, tenantCommand } from '../client.ts';
import { labelsIn } from '../labels.ts';
import { type BmcFlags, bmcBinding, bmcOptions, credentialsIn } from './bmcFlags.ts';

interface EnrollFlags extends TenantFlags, BmcFlags {
  site: string;
  pool?: string;
  nodeId?: string;
  mac?: string[];
  uuid?: string;
  hostname?: string;
  address?: string;
  vlan?: number;
  hardwareProfile?: string;
  driver?: string[];
  label?: string[];
}

/** `railhead metal enroll`: puts a machine into the books. */
export function enrollCommand(environment: CliEnvironment): Command {
  const command = tenantCommand('enroll', 'put a machine into the books')
    .requiredOption('--site <site-id>', 'where it stands')
    .option(
      '--mac <address>',
      'a hardware address that it boots by; may be repeated. Without one, --uuid is needed',
      collect,
    )
    .option('--pool <pool-id>', 'the pool that it belongs to')
    .option('--node-id <id>', 'default: a new one')
    .option('--uuid <uuid>', 'its product UUID')
    .option('--hostname <name>', 'its name by DHCP')
    .option('--address <address>', 'its reserved address on the provisioning network')
    .option(
      '--vlan <tag>',
      'it boots in this VLAN once it has its script; its first DHCP has no tag',
      integer,
    );
  return bmcOptions(command)
    .option('--hardware-profile <name>', "whose drivers it has; default: its pool's")
    .option('--driver <concern=driver>', 'a driver of this machine alone; may be repeated', collect)
    .option('--label <name=value>', 'for the `when` of steps; may be repeated', collect)
    .action(async (flags: EnrollFlags) => {
      const input = enrollInput(flags, await credentialsIn(flags.bmcCredentialsFile));
      await callAndPrint(environment, flags, 'metal.enroll', input);
    });
}

function enrollInput(flags: EnrollFlags, bmcCredentials: Credentials | undefined): object {
  const { tenant: tenantId, site: siteId, pool: poolId, mac: macs } = flags;
  const { nodeId, uuid, hostname, address, vlan, hardwareProfile } = flags;
  const drivers = labelsIn('--driver', flags.driver);
  const labels = labelsIn('--label', flags.label);
  const more = { vlan, hardwareProfile, drivers, labels, bmc: bmcBinding(flags), bmcCredentials };
  return given({ tenantId, siteId, poolId, nodeId, macs, uuid, hostname, address, ...more });
}
