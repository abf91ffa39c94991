import { Command, Option } from 'commander';
import { RailheadError } from '#contract/errors.ts';
import type { Image } from '#contract/images.ts';
import { integer } from './central/options.ts';
import { type CliEnvironment, type ClientFlags, tenantCommand, withApi } from './client.ts';
import { allPages } from './pages.ts';
import { printList, printRecord } from './print.ts';

interface RegisterFlags extends ClientFlags {
  tenant: string;
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
    .addCommand(getCommand(environment))
    .addCommand(listCommand(environment))
    .addCommand(promoteCommand(environment));
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
      const image = await withApi(environment, flags, (call) =>
        call<Image>('images.register', registerInput(flags)),
      );
      printRecord(image, flags.format);
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

function registerInput({
  tenant,
  ref,
  kind,
  diskFormat,
  compression,
  sha256,
  size,
  source,
  signature,
  signer,
}: RegisterFlags) {
  return {
    tenantId: tenant,
    ref,
    format: diskFormat,
    sha256,
    source,
    ...(kind !== undefined && { kind }),
    ...(compression !== undefined && { compression }),
    ...(size !== undefined && { sizeBytes: size }),
    ...(signature !== undefined && { signature, signerId: signer }),
  };
}

type TenantFlags = ClientFlags & { tenant: string };

function getCommand(environment: CliEnvironment): Command {
  return tenantCommand('get', 'one image')
    .argument('<image-id>')
    .action(async (imageId: string, flags: TenantFlags) => {
      const input = { tenantId: flags.tenant, imageId };
      printRecord(
        await withApi(environment, flags, (call) => call<Image>('images.get', input)),
        flags.format,
      );
    });
}

function listCommand(environment: CliEnvironment): Command {
  return tenantCommand('list', "the tenant's images and public ones")
    .addOption(new Option('--kind <kind>', 'only these').choices(['os', 'ramdisk']))
    .action(async (flags: TenantFlags & { kind?: string }) => {
      const input = { tenantId: flags.tenant, ...(flags.kind !== undefined && { kind: flags.kind }) };
      const images = await withApi(environment, flags, (call) => allPages<Image>(call, 'images.list', input));
      printList(
        images,
        ['imageId', 'ref', 'kind', 'format', 'compression', 'verified', 'visibility'],
        flags.format,
      );
    });
}

function promoteCommand(environment: CliEnvironment): Command {
  return tenantCommand('promote', 'make a verified image public to every tenant')
    .argument('<image-id>')
    .action(async (imageId: string, flags: TenantFlags) => {
      const input = { tenantId: flags.tenant, imageId };
      printRecord(
        await withApi(environment, flags, (call) => call<Image>('images.promote', input)),
        flags.format,
      );
    });
}
