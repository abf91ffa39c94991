import { type Command, Option } from 'commander';
import { RailheadError } from '#contract/errors.ts';
import { bmcDrivers } from '#contract/nodeSpec.ts';
import { type Credentials, parseCredentials } from '#contract/secrets.ts';
import { given } from '../call.ts';
import { readSecret } from '../secretFile.ts';

/** What a command is told of a machine's BMC. */
export interface BmcFlags {
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
}

/** The options that say what a machine's BMC is, and how it is reached. */
export function bmcOptions(command: Command): Command {
  return command
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
    );
}

/** @throws RailheadError INVALID_INPUT for a file that holds none */
export async function credentialsIn(file: string | undefined): Promise<Credentials | undefined> {
  if (file === undefined) return undefined;
  const credentials = parseCredentials(await readSecret(file));
  if (credentials !== undefined) return credentials;
  const path = '--bmc-credentials-file';
  throw new RailheadError('INVALID_INPUT', `${path}: it must be one line 'username:password'`, { path });
}

/** The binding that the options say; undefined when they say nothing. */
export function bmcBinding(flags: BmcFlags): object | undefined {
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
