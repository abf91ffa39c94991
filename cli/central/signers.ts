import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { actOnHost, onHost } from '#central/host.ts';
import { addImageSigner, listImageSigners, revokeImageSigner } from '#central/images/signers.ts';
import { rootTenant } from '#central/tenants.ts';
import { hostFolder, printJson } from './options.ts';

interface SignerFlags {
  directory: string;
  tenant: string;
  signer: string;
}

/** `railhead central signers …`, for short `railhead signers …`: who may vouch for images. There is no API for it. */
export function signersCommand(): Command {
  return new Command('signers')
    .description(`who may vouch for images; the signers of ${rootTenant} are the platform's`)
    .addCommand(addCommand())
    .addCommand(revokeCommand())
    .addCommand(listCommand());
}

function act(name: 'add' | 'revoke', tenantId: string, signerId: string) {
  return { command: `signers ${name}`, tenantId, subject: { signerId } };
}

function signerOptions(command: Command): Command {
  return hostFolder(command)
    .option('--tenant <tenant>', 'whose allowlist', rootTenant)
    .requiredOption('--signer <id>', "the signer's id");
}

function addCommand(): Command {
  return signerOptions(new Command('add'))
    .description('put a public key on an allowlist')
    .requiredOption('--key <file>', 'SPKI PEM, Ed25519 or ECDSA P-256')
    .action(({ directory, tenant, signer, key }: SignerFlags & { key: string }) =>
      actOnHost(directory, act('add', tenant, signer), async ({ store }) => {
        const publicKey = await readFile(key, 'utf8');
        await addImageSigner(store, { tenantId: tenant, signerId: signer, publicKey });
      }),
    );
}

function revokeCommand(): Command {
  return signerOptions(new Command('revoke'))
    .description('images that it vouched for no longer deploy')
    .action(({ directory, tenant, signer }: SignerFlags) =>
      actOnHost(directory, act('revoke', tenant, signer), ({ store }) =>
        revokeImageSigner(store, tenant, signer),
      ),
    );
}

function listCommand(): Command {
  return hostFolder(new Command('list'))
    .description('every signer')
    .action(({ directory }: { directory: string }) =>
      onHost(directory, async ({ store }) => printJson(await listImageSigners(store))),
    );
}
