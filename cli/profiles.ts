import { Command, Option } from 'commander';
import { RailheadError } from '#contract/errors.ts';
import { callAndPrint, given, listAndPrint, type TenantFlags } from './call.ts';
import { integer } from './central/options.ts';
import { type CliEnvironment, tenantCommand, withApi } from './client.ts';
import { readJson } from './jsonFile.ts';
import { printLine, printList, printRecord } from './print.ts';

type VersionFlags = TenantFlags & { profileVersion?: number };

/** `railhead profiles …`: versioned recipes for machines. */
export function profilesCommand(environment: CliEnvironment): Command {
  return new Command('profiles')
    .description('versioned recipes for machines')
    .addCommand(createCommand(environment))
    .addCommand(versionCommand(environment, 'get', 'one version'))
    .addCommand(listCommand(environment))
    .addCommand(validateCommand(environment))
    .addCommand(renderCommand(environment))
    .addCommand(updateCommand(environment))
    .addCommand(deleteCommand(environment));
}

function createCommand(environment: CliEnvironment): Command {
  return tenantCommand('create', 'store a new version')
    .argument('<file>', 'the profile as JSON')
    .option('--public', 'for every tenant')
    .action(async (file: string, flags: TenantFlags & { public?: true }) => {
      const visibility = flags.public ? 'public' : 'private';
      const input = { tenantId: flags.tenant, document: await readJson(file), visibility };
      await callAndPrint(environment, flags, 'profiles.create', input);
    });
}

/** A command for one version of a profile, by default the latest; its method has the same name. */
function versionCommand(environment: CliEnvironment, name: string, description: string): Command {
  return profileCommand(name, description).action((profileId: string, flags: VersionFlags) =>
    callAndPrint(environment, flags, `profiles.${name}`, versionInput(profileId, flags)),
  );
}

function profileCommand(name: string, description: string): Command {
  return tenantCommand(name, description)
    .argument('<profile-id>')
    .option('--profile-version <version>', 'default: the latest', integer);
}

function versionInput(profileId: string, { tenant: tenantId, profileVersion }: VersionFlags): object {
  return given({ tenantId, profileId, profileVersion });
}

function listCommand(environment: CliEnvironment): Command {
  return tenantCommand('list', "the tenant's profiles, public ones and those that are shipped").action(
    (flags: TenantFlags) => {
      const columns = ['profileId', 'profileVersion', 'tenantId', 'visibility', 'used'];
      return listAndPrint(environment, flags, 'profiles.list', {
        input: { tenantId: flags.tenant },
        columns,
      });
    },
  );
}

interface Validity {
  valid: boolean;
  issues: object[];
}

function validateCommand(environment: CliEnvironment): Command {
  return profileCommand(
    'validate',
    'every problem of a profile with its path; fails when there is one',
  ).action(async (profileId: string, flags: VersionFlags) => {
    const input = versionInput(profileId, flags);
    const answer = await withApi(environment, flags, (call) => call<Validity>('profiles.validate', input));
    if (flags.format !== 'table') printRecord(answer, flags.format);
    else if (answer.valid) printLine(`${profileId}: valid`);
    else printList(answer.issues, ['path', 'message'], flags.format);
    if (!answer.valid) throw invalid(profileId, answer.issues.length);
  });
}

function invalid(profileId: string, problems: number): RailheadError {
  const message = `${profileId} has ${problems} ${problems === 1 ? 'problem' : 'problems'}: a deploy would fail`;
  return new RailheadError('INVALID_INPUT', message, { reason: 'invalid-profile', problems });
}

function renderCommand(environment: CliEnvironment): Command {
  return profileCommand('render', 'the steps that a workflow of it would run').action(
    async (profileId: string, flags: VersionFlags) => {
      const input = versionInput(profileId, flags);
      const rendered = await withApi(environment, flags, (call) =>
        call<{ steps: object[] }>('profiles.render', input),
      );
      if (flags.format !== 'table') printRecord(rendered, flags.format);
      else
        printList(
          rendered.steps,
          ['path', 'use', 'on', 'with', 'timeoutMs', 'retries', 'onFailure', 'when'],
          flags.format,
        );
    },
  );
}

type UpdateFlags = VersionFlags & { file?: string; visibility?: string; ifVersion?: number };

function updateCommand(environment: CliEnvironment): Command {
  return profileCommand('update', "replace an unused version's document, or change who sees it")
    .option('--file <file>', 'the document to put in its place, JSON')
    .addOption(new Option('--visibility <visibility>', 'who sees it').choices(['private', 'public']))
    .option('--if-version <version>', 'only while its row is at this version (`rowVersion`)', integer)
    .action(async (profileId: string, flags: UpdateFlags) => {
      const { file, visibility, ifVersion } = flags;
      const document = file === undefined ? undefined : await readJson(file);
      const input = { ...versionInput(profileId, flags), ...given({ document, visibility, ifVersion }) };
      await callAndPrint(environment, flags, 'profiles.update', input);
    });
}

function deleteCommand(environment: CliEnvironment): Command {
  return tenantCommand('delete', 'hide one version, or all, from new workflows')
    .argument('<profile-id>')
    .option('--profile-version <version>', 'default: all of them', integer)
    .action((profileId: string, flags: VersionFlags) =>
      callAndPrint(environment, flags, 'profiles.delete', versionInput(profileId, flags)),
    );
}
