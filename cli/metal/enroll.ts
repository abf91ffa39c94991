import { type Command, Option } from 'commander';
import { RailheadError } from '#contract/errors.ts';
import { bmcDrivers } from '#contract/nodeSpec.ts';
import { type Credentials, parseCredentials } from '#contract/secrets.ts';
import { callAndPrint, given, type TenantFlags } from '../call.ts';
import { collect, integer } from '../central/options.ts';
import { type CliEnvironment, tenantCommand } from '../client.ts';
import { labelsIn } from '../labels.ts';
import { readSecret } from '../secretFile.ts';

interface EnrollFlags extends TenantFlags {
  site: string;
  pool?: string;
  nodeId?: string;
  mac?: string[];
  uuid?: string;
  hostname?: string;
  address?: string;
  vlan?: number;
  bmcDriver?: string;
  bmcAddress?: string;
  bmcCredential?: string;
  bmcCredentialsFile?: string;
  bmcCertificateSha256?: string;
  bmcOldTls?: boolean;
  bmcConsole?: string;
  bmcSshHostKey?: string;
  bmcFirmware?: string;
  changeBmcPassword?: boolean;
  bootOrder?: string;
  hardwareProfile?: string;
  driver?: string[];
  label?: string[];
}

/** `railhead metal enroll`: puts a machine into the books. */
export function enrollCommand(environment: CliEnvironment): Command {
  return tenantCommand('enroll', 'put a machine into the books')
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
    )
    .option('--bmc-address <url>', 'its BMC, https://host[:port] for Redfish or ipmi://host[:port]')
    .addOption(
      new Option(
        '--bmc-driver <name>',
        'default: by the address; without a BMC, wake-on-lan or manual',
      ).choices(bmcDrivers),
    )
    .option('--bmc-credential <ref>', 'secret://…: set at the centre, or a file at the site')
    .option(
      '--bmc-credentials-file <file>',
      "keep this at the centre as that: one line 'username:password'; - reads it from standard input",
    )
    .option('--bmc-certificate-sha256 <digest>', 'pin of the BMC certificate (DER)')
    .option(
      '--change-bmc-password',
      'have the BMC given a password of its own in the place of that one, before anything else',
    )
    .option(
      '--bmc-old-tls',
      "speak TLS 1.0, weak ciphers and SSH's old algorithms with this BMC, which has no better",
    )
    .addOption(
      new Option(
        '--bmc-console <way>',
        'how its serial console is reached; default: by SSH where the BMC has that, else by IPMI',
      ).choices(['auto', 'ssh', 'sol']),
    )
    .option(
      '--bmc-ssh-host-key <fingerprint>',
      'pin of its SSH host key, SHA256:… as ssh-keygen -l prints it',
    )
    .addOption(
      new Option(
        '--bmc-firmware <kind>',
        'what an IPMI boot device is for; default: as it was seen to boot',
      ).choices(['uefi', 'bios']),
    )
    .addOption(
      new Option(
        '--boot-order <order>',
        'it always tries the network first, for wake-on-lan and manual',
      ).choices(['network-first']),
    )
    .option('--hardware-profile <name>', "whose drivers it has; default: its pool's")
    .option('--driver <concern=driver>', 'a driver of this machine alone; may be repeated', collect)
    .option('--label <name=value>', 'for the `when` of steps; may be repeated', collect)
    .action(async (flags: EnrollFlags) => {
      const input = enrollInput(flags, await credentialsIn(flags.bmcCredentialsFile));
      await callAndPrint(environment, flags, 'metal.enroll', input);
    });
}

async function credentialsIn(file: string | undefined): Promise<Credentials | undefined> {
  if (file === undefined) return undefined;
  const credentials = parseCredentials(await readSecret(file));
  if (credentials !== undefined) return credentials;
  const path = '--bmc-credentials-file';
  throw new RailheadError('INVALID_INPUT', `${path}: it must be one line 'username:password'`, { path });
}

function enrollInput(flags: EnrollFlags, bmcCredentials: Credentials | undefined): object {
  const { tenant: tenantId, site: siteId, pool: poolId, mac: macs } = flags;
  const { nodeId, uuid, hostname, address, vlan, hardwareProfile } = flags;
  const drivers = labelsIn('--driver', flags.driver);
  const labels = labelsIn('--label', flags.label);
  const more = { vlan, hardwareProfile, drivers, labels, bmc: bmcBinding(flags), bmcCredentials };
  return given({ tenantId, siteId, poolId, nodeId, macs, uuid, hostname, address, ...more });
}

function bmcBinding(flags: EnrollFlags): object | undefined {
  const { bmcDriver, bmcAddress, bmcCredential, bmcCertificateSha256, bmcOldTls } = flags;
  const { bmcConsole, bmcSshHostKey, bmcFirmware, bootOrder, changeBmcPassword } = flags;
  const binding = given({
    driver: bmcDriver,
    address: bmcAddress,
    credentialRef: bmcCredential,
    certificateSha256: bmcCertificateSha256,
    oldTls: bmcOldTls,
    console: bmcConsole,
    sshHostKey: bmcSshHostKey,
    firmware: bmcFirmware,
    bootOrder,
    changePassword: changeBmcPassword,
  });
  return Object.keys(binding).length === 0 ? undefined : binding;
}
