import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { isENOENT } from '#base/errors.ts';
import { RailheadError } from '#contract/errors.ts';
import type { Profile } from '#contract/profiles.ts';
import { bcdHostCloudConfig } from './bcdHost.ts';
import { bcdHostIgnition } from './bcdHostIgnition.ts';
import type { Template } from './render.ts';
import type { UserDataSettings } from './settings.ts';

type UserDataKind = NonNullable<Profile['userData']>['kind'];

/** The templates that ship, by the name that profiles use, each of one kind. None is for `talos`. */
const shipped: Readonly<Record<string, { kind: UserDataKind; template: Template }>> = {
  'bcd-host.yaml.hbs': { kind: 'cloud-init', template: bcdHostCloudConfig },
  'bcd-host.ign': { kind: 'ignition', template: bcdHostIgnition },
};

/**
 * The template that a profile names: one that was configured, else one that ships.
 * @throws RailheadError INVALID_CONFIG when there is none of that name, or what ships is of another kind
 */
export async function loadTemplate(
  { template: name, kind }: NonNullable<Profile['userData']>,
  configured: UserDataSettings['templates'],
): Promise<Template> {
  const custom = typeof configured === 'string' ? await fileOf(name, configured) : own(configured, name);
  if (custom !== undefined) return custom;
  const found = own(shipped, name);
  if (found === undefined)
    throw refusal('template', `there is no user data template ${name}: configure it, or name one that ships`);
  if (found.kind === kind) return found.template;
  throw refusal('kind', `the template ${name} is ${found.kind}, not ${kind}: bring one of your own`);
}

function own<Value>(values: Readonly<Record<string, Value>> | undefined, name: string): Value | undefined {
  return values !== undefined && Object.hasOwn(values, name) ? values[name] : undefined;
}

async function fileOf(name: string, folder: string): Promise<string | undefined> {
  // A profile's author must not read other files of the centre by it.
  if (!/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(name)) return undefined;
  try {
    return await readFile(path.join(folder, name), 'utf8');
  } catch (error) {
    if (isENOENT(error)) return undefined;
    throw error;
  }
}

function refusal(field: 'template' | 'kind', message: string): RailheadError {
  return new RailheadError('INVALID_CONFIG', message, { path: `userData.${field}` });
}
