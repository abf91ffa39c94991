import { Command, Option } from 'commander';
import { RailheadError } from '#contract/errors.ts';
import { type Credentials, parseCredentials } from '#contract/secrets.ts';
import { PowerAction } from '#contract/steps.ts';
import { collect, integer } from './central/options.ts';
import { type CliEnvironment, type ClientFlags, tenantCommand, withApi } from './client.ts';
import { printRecord } from './print.ts';
import { readSecret } from './secretFile.ts';

interface EnrollFlags extends ClientFlags {
  tenant: string;
  site: string;
  pool?: string;
  nodeId?: string;
  mac: string[];
  uuid?: string;
  hostname?: string;
  address?: string;
  bmcAddress?: string;
  bmcCredential?: string;
  bmcCredentialsFile?: string;
  bmcCertificateSha256?: string;
}

interface DeployFlags extends ClientFlags {
  tenant: string;
  profile: string;
  profileVersion?: number;
  diskSerial?: string;
  diskWwn?: string;
  diskName?: string;
  diskSize?: number;
}

/** `railhead metal …`: what is done to machines. */
export function metalCommand(environment: CliEnvironment): Command {
  return new Command('metal')
    .description('what is done to machines')
    .addCommand(enrollCommand(environment))
    .addCommand(deployCommand(environment))
    .addCommand(powerCommand(environment));
}

function enrollCommand(environment: CliEnvironment): Command {
  return tenantCommand('enroll', 'put a machine into the books')
    .requiredOption('--site <site-id>', 'where it stands')
    .requiredOption('--mac <address>', 'a hardware address that it boots by; may be repeated', collect)
    .option('--pool <pool-id>', 'the pool that it belongs to')
    .option('--node-id <id>', 'default: a new one')
    .option('--uuid <uuid>', 'its product UUID')
    .option('--hostname <name>', 'its name by DHCP')
    .option('--address <address>', 'its reserved address on the provisioning network')
    .option('--bmc-address <url>', 'its BMC, https://host[:port]')
    .option('--bmc-credential <ref>', 'secret://…: set at the centre, or a file at the site')
    .option(
      '--bmc-credentials-file <file>',
      "keep this at the centre as that: one line 'username:password'; - reads it from standard input",
    )
    .option('--bmc-certificate-sha256 <digest>', 'pin of the BMC certificate (DER)')
    .action(async (flags: EnrollFlags) => {
      const input = enrollInput(flags, await credentialsIn(flags.bmcCredentialsFile));
      printRecord(
        await withApi(environment, flags, (call) => call<object>('metal.enroll', input)),
        flags.format,
      );
    });
}

async function credentialsIn(file: string | undefined): Promise<Credentials | undefined> {
  if (file === undefined) return undefined;
  const credentials = parseCredentials(await readSecret(file));
  if (credentials !== undefined) return credentials;
  const path = '--bmc-credentials-file';
  throw new RailheadError('INVALID_INPUT', `${path}: it must be one line 'username:password'`, { path });
}

function enrollInput(flags: EnrollFlags, bmcCredentials: Credentials | undefined) {
  const { tenant, site, pool, nodeId, mac, uuid, hostname, address } = flags;
  const given = { poolId: pool, nodeId, uuid, hostname, address, bmc: bmcBinding(flags), bmcCredentials };
  return { tenantId: tenant, siteId: site, macs: mac, ...defined(given) };
}

function bmcBinding({ bmcAddress, bmcCredential, bmcCertificateSha256 }: EnrollFlags): object | undefined {
  const binding = {
    address: bmcAddress,
    credentialRef: bmcCredential,
    certificateSha256: bmcCertificateSha256,
  };
  const given = defined(binding);
  return Object.keys(given).length === 0 ? undefined : given;
}

function deployCommand(environment: CliEnvironment): Command {
  return tenantCommand('deploy', 'run a profile on a machine')
    .argument('<node-id>')
    .requiredOption('--profile <profile-id>', 'which profile')
    .option('--profile-version <version>', 'default: the latest', integer)
    .option('--disk-serial <serial>', 'write the disk with this serial number')
    .option('--disk-wwn <wwn>', 'write the disk with this WWN')
    .option('--disk-name <name>', 'write the disk of this kernel name')
    .option('--disk-size <bytes>', 'write the disk of exactly this size', integer)
    .action(async (nodeId: string, flags: DeployFlags) => {
      const input = deployInput(nodeId, flags);
      printRecord(
        await withApi(environment, flags, (call) => call<object>('metal.deploy', input)),
        flags.format,
      );
    });
}

function deployInput(nodeId: string, flags: DeployFlags) {
  const { tenant, profile, profileVersion, diskSerial, diskWwn, diskName, diskSize } = flags;
  const disk = defined({ serial: diskSerial, wwn: diskWwn, name: diskName, sizeBytes: diskSize });
  const given = { profileVersion, disk: Object.keys(disk).length === 0 ? undefined : disk };
  return { tenantId: tenant, nodeId, profileId: profile, ...defined(given) };
}

function powerCommand(environment: CliEnvironment): Command {
  return tenantCommand('power', "drive a machine's power through its BMC")
    .argument('<node-id>')
    .addOption(
      new Option('--action <action>', 'what to do').choices([...PowerAction.enum]).makeOptionMandatory(),
    )
    .action(async (nodeId: string, flags: ClientFlags & { tenant: string; action: string }) => {
      const input = { tenantId: flags.tenant, nodeId, action: flags.action };
      printRecord(
        await withApi(environment, flags, (call) => call<object>('metal.power', input)),
        flags.format,
      );
    });
}

/** The fields that have a value. */
function defined(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
