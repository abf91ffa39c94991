import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { RailheadError } from '#contract/errors.ts';
import { callAndPrint, given, listAndPrint, type TenantFlags } from './call.ts';
import { collect, integer } from './central/options.ts';
import { type CallApi, type CliEnvironment, tenantCommand, withApi } from './client.ts';
import { printRecord } from './print.ts';

/** What a command says of a pool's policy: a file with all of it, and single fields. */
interface PolicyFlags {
  policy?: string;
  prewarm?: string[] | false;
  ramdisk?: string;
  ramdiskAarch64?: string;
}

type Policy = Record<string, unknown> & { ramdisk?: Record<string, string> };

/** `railhead pools …`: machines of one kind at one site. */
export function poolsCommand(environment: CliEnvironment): Command {
  return new Command('pools')
    .description('machines of one kind at one site, and what is held ready for them')
    .addCommand(createCommand(environment))
    .addCommand(getCommand(environment))
    .addCommand(listCommand(environment))
    .addCommand(updateCommand(environment));
}

function policyOptions(command: Command): Command {
  return command
    .option('--policy <file>', 'the whole policy, JSON')
    .option('--prewarm <ref>', 'an image to hold in the site cache; may be repeated', collect)
    .option('--ramdisk <ref>', 'the ramdisk that its x86_64 machines boot')
    .option('--ramdisk-aarch64 <ref>', 'the ramdisk that its aarch64 machines boot');
}

function createCommand(environment: CliEnvironment): Command {
  return policyOptions(tenantCommand('create', 'a pool at a site'))
    .requiredOption('--site <site-id>', 'where its machines stand')
    .action(async (flags: TenantFlags & PolicyFlags & { site: string }) => {
      const policy = await changedPolicy({}, flags);
      const input = { tenantId: flags.tenant, siteId: flags.site, policy };
      await callAndPrint(environment, flags, 'pools.create', input);
    });
}

function getCommand(environment: CliEnvironment): Command {
  return tenantCommand('get', 'one pool')
    .argument('<pool-id>')
    .action((poolId: string, flags: TenantFlags) =>
      callAndPrint(environment, flags, 'pools.get', { tenantId: flags.tenant, poolId }),
    );
}

function listCommand(environment: CliEnvironment): Command {
  return tenantCommand('list', "the tenant's pools").action((flags: TenantFlags) => {
    const columns = ['poolId', 'siteId', 'class', 'version', 'policy'];
    return listAndPrint(environment, flags, 'pools.list', { input: { tenantId: flags.tenant }, columns });
  });
}

function updateCommand(environment: CliEnvironment): Command {
  return policyOptions(tenantCommand('update', "change a pool's policy; fields that are not given stay"))
    .argument('<pool-id>')
    .option('--no-prewarm', 'hold no image ready but the ramdisks')
    .option('--if-version <version>', 'only while the pool is at this version', integer)
    .action(async (poolId: string, flags: TenantFlags & PolicyFlags & { ifVersion?: number }) => {
      const pool = await withApi(environment, flags, (call) => update(call, poolId, flags));
      printRecord(pool, flags.format);
    });
}

/** Of two updates at once none undoes the other: the second one is refused, and has to look again. */
async function update(
  call: CallApi,
  poolId: string,
  flags: TenantFlags & PolicyFlags & { ifVersion?: number },
): Promise<object> {
  const pool = { tenantId: flags.tenant, poolId };
  const before = await call<{ policy: Policy; version: number }>('pools.get', pool);
  const policy = await changedPolicy(before.policy, flags);
  return call('pools.update', { ...pool, policy, ifVersion: flags.ifVersion ?? before.version });
}

async function changedPolicy(before: Policy, flags: PolicyFlags): Promise<Policy> {
  const policy = flags.policy === undefined ? before : await readPolicy(flags.policy);
  const ramdisk = given({ x86_64: flags.ramdisk, aarch64: flags.ramdiskAarch64 });
  const prewarmImages = flags.prewarm === false ? [] : flags.prewarm;
  return {
    ...policy,
    ...(Array.isArray(prewarmImages) && { prewarmImages }),
    ...(Object.keys(ramdisk).length > 0 && { ramdisk: { ...policy.ramdisk, ...(ramdisk as object) } }),
  };
}

async function readPolicy(file: string): Promise<Policy> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Policy;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new RailheadError('INVALID_INPUT', `${file} holds no policy: ${why}`, { path: 'policy' }, error);
  }
}
