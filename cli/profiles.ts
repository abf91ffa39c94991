import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { RailheadError } from '#contract/errors.ts';
import { integer } from './central/options.ts';
import { type CliEnvironment, type ClientFlags, tenantCommand, withApi } from './client.ts';
import { allPages } from './pages.ts';
import { printList, printRecord } from './print.ts';

type TenantFlags = ClientFlags & { tenant: string };

/** `railhead profiles …`: versioned recipes for machines. */
export function profilesCommand(environment: CliEnvironment): Command {
  return new Command('profiles')
    .description('versioned recipes for machines')
    .addCommand(createCommand(environment))
    .addCommand(getCommand(environment))
    .addCommand(listCommand(environment));
}

function createCommand(environment: CliEnvironment): Command {
  return tenantCommand('create', 'store a new version')
    .argument('<file>', 'the profile as JSON')
    .option('--public', 'for every tenant')
    .action(async (file: string, flags: TenantFlags & { public?: true }) => {
      const visibility = flags.public ? 'public' : 'private';
      const input = { tenantId: flags.tenant, document: await readJson(file), visibility };
      printRecord(
        await withApi(environment, flags, (call) => call<object>('profiles.create', input)),
        flags.format,
      );
    });
}

function getCommand(environment: CliEnvironment): Command {
  return tenantCommand('get', 'one version')
    .argument('<profile-id>')
    .option('--profile-version <version>', 'default: the latest', integer)
    .action(async (profileId: string, flags: TenantFlags & { profileVersion?: number }) => {
      const version = flags.profileVersion === undefined ? {} : { profileVersion: flags.profileVersion };
      const input = { tenantId: flags.tenant, profileId, ...version };
      printRecord(
        await withApi(environment, flags, (call) => call<object>('profiles.get', input)),
        flags.format,
      );
    });
}

function listCommand(environment: CliEnvironment): Command {
  return tenantCommand('list', "the tenant's profiles and public ones").action(async (flags: TenantFlags) => {
    const input = { tenantId: flags.tenant };
    const profiles = await withApi(environment, flags, (call) =>
      allPages<object>(call, 'profiles.list', input),
    );
    printList(profiles, ['profileId', 'profileVersion', 'tenantId', 'visibility', 'used'], flags.format);
  });
}

/** @throws RailheadError INVALID_INPUT when the file is not JSON */
async function readJson(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RailheadError(
      'INVALID_INPUT',
      `${file} is not JSON: ${(error as Error).message}`,
      { path: file },
      error,
    );
  }
}
