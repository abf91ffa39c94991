import { Command, Option } from 'commander';
import { RailheadError } from '#contract/errors.ts';
import { callAndPrint, given, listAndPrint, type TenantFlags } from './call.ts';
import { integer } from './central/options.ts';
import { type CliEnvironment, tenantCommand } from './client.ts';

interface RegisterFlags extends TenantFlags {
  ref: string;
  kind?: string;
  diskFormat: string;
  compression?: string;
  sha256: string;
  size?: number;
  source: string;
  signature?: string;
  signer?: string;
}

/** `railhead images …`: the catalog of OS images and ramdisks. */
export function imagesCommand(environment: CliEnvironment): Command {
  return new Command('images')
    .description('the catalog of OS images and ramdisks')
    .addCommand(registerCommand(environment))
    .addCommand(imageCommand(environment, 'get', 'one image'))
    .addCommand(listCommand(environment))
    .addCommand(imageCommand(environment, 'promote', 'make a verified image public to every tenant'));
}

function registerCommand(environment: CliEnvironment): Command {
  return tenantCommand('register', 'record an image by its digest and source')
    .requiredOption('--ref <name@version>', 'its name, once per tenant')
    .requiredOption('--source <url>', 'where caches pull it from: https:// or oci://')
    .addOption(diskFormatOption())
    .requiredOption('--sha256 <digest>', '64 hex digits of the artifact as stored')
    .addOption(new Option('--kind <kind>', 'default os').choices(['os', 'ramdisk']))
    .addOption(new Option('--compression <compression>', 'default none').choices(['none', 'zstd', 'gzip']))
    .option('--size <bytes>', 'size of the artifact', integer)
    .option('--signature <base64>', 'signature over the image; goes with --signer')
    .option('--signer <id>', 'who signed; goes with --signature')
    .action(async (flags: RegisterFlags) => {
      requireBoth(flags);
      await callAndPrint(environment, flags, 'images.register', registerInput(flags));
    });
}

function diskFormatOption(): Option {
  return new Option('--disk-format <format>', 'format of the disk image')
    .choices(['raw', 'qcow2', 'iso'])
    .makeOptionMandatory();
}

function requireBoth({ signature, signer }: RegisterFlags): void {
  if ((signature === undefined) === (signer === undefined)) return;
  throw new RailheadError('INVALID_INPUT', '--signature and --signer go together', {
    path: signature === undefined ? 'signature' : 'signerId',
  });
}

function registerInput(flags: RegisterFlags): object {
  const { tenant: tenantId, diskFormat: format, size: sizeBytes, signer: signerId } = flags;
  const { ref, kind, compression, sha256, source, signature } = flags;
  return given({ tenantId, ref, kind, format, compression, sha256, sizeBytes, source, signature, signerId });
}

function listCommand(environment: CliEnvironment): Command {
  return tenantCommand('list', "the tenant's images and public ones")
    .addOption(new Option('--kind <kind>', 'only these').choices(['os', 'ramdisk']))
    .action((flags: TenantFlags & { kind?: string }) =>
      listAndPrint(environment, flags, 'images.list', {
        input: given({ tenantId: flags.tenant, kind: flags.kind }),
        columns: ['imageId', 'ref', 'kind', 'format', 'compression', 'verified', 'visibility'],
      }),
    );
}

/** A command for one image; its method has the same name. */
function imageCommand(environment: CliEnvironment, name: string, description: string): Command {
  return tenantCommand(name, description)
    .argument('<image-id>')
    .action((imageId: string, flags: TenantFlags) =>
      callAndPrint(environment, flags, `images.${name}`, { tenantId: flags.tenant, imageId }),
    );
}
