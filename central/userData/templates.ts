import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { isENOENT } from '#base/errors.ts';
import { RailheadError } from '#contract/errors.ts';
import { bcdHostCloudConfig } from './bcdHost.ts';
import type { Template } from './render.ts';

/** The templates that ship, by the name that profiles use. */
const shipped: Readonly<Record<string, Template>> = { 'bcd-host.yaml.hbs': bcdHostCloudConfig };

/**
 * The template that a profile names: a file of the `templates` folder, else one that ships.
 * @throws RailheadError INVALID_CONFIG when there is none of that name
 */
export async function loadTemplate(name: string, folder: string | undefined): Promise<Template> {
  const custom = folder === undefined ? undefined : await customTemplate(name, folder);
  const template = custom ?? (Object.hasOwn(shipped, name) ? shipped[name] : undefined);
  if (template !== undefined) return template;
  throw new RailheadError(
    'INVALID_CONFIG',
    `there is no user data template ${name}: put it into the templates folder`,
    {
      path: 'userData.template',
    },
  );
}

async function customTemplate(name: string, folder: string): Promise<string | undefined> {
  // A profile's author must not read other files of the centre by it.
  if (!/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(name)) return undefined;
  try {
    return await readFile(path.join(folder, name), 'utf8');
  } catch (error) {
    if (isENOENT(error)) return undefined;
    throw error;
  }
}
