import { Command } from 'commander';
import { collect } from './central/options.ts';
import { type CliEnvironment, type ClientFlags, tenantCommand, withApi } from './client.ts';
import { printRecord } from './print.ts';

interface CreateFlags extends ClientFlags {
  tenant: string;
  site: string;
  prewarm?: string[];
  ramdisk?: string;
  ramdiskAarch64?: string;
}

/** `railhead pools …`: machines of one kind at one site. */
export function poolsCommand(environment: CliEnvironment): Command {
  const create = tenantCommand('create', 'a pool, and what is held ready for it')
    .requiredOption('--site <site-id>', 'where its machines stand')
    .option('--prewarm <ref>', 'an image to hold in the site cache; may be repeated', collect)
    .option('--ramdisk <ref>', 'the ramdisk that its x86_64 machines boot')
    .option('--ramdisk-aarch64 <ref>', 'the ramdisk that its aarch64 machines boot')
    .action(async (flags: CreateFlags) => {
      const pool = await withApi(environment, flags, (call) =>
        call<object>('pools.create', createInput(flags)),
      );
      printRecord(pool, flags.format);
    });
  return new Command('pools').description('machines of one kind at one site').addCommand(create);
}

function createInput({ tenant, site, prewarm = [], ramdisk, ramdiskAarch64 }: CreateFlags) {
  const refs = {
    ...(ramdisk !== undefined && { x86_64: ramdisk }),
    ...(ramdiskAarch64 !== undefined && { aarch64: ramdiskAarch64 }),
  };
  return { tenantId: tenant, siteId: site, policy: { prewarmImages: prewarm, ramdisk: refs } };
}
