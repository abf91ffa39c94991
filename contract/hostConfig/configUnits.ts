import Type from 'typebox';
import { RailheadError } from '../errors.ts';
import { findIssues, type Issue } from '../findIssues.ts';
import type { ConfigUnit } from './desired.ts';
import { refusedInUnit } from './rules.ts';
import { builtinUnits, type HostConfig, unitNamePattern } from './units.ts';

/**
 * Checks units that are added to the built-in ones, and returns them.
 * @throws RailheadError INVALID_CONFIG for a name that is none, is built in, or is there twice
 */
export function checkConfigUnits(configUnits: readonly ConfigUnit[]): readonly ConfigUnit[] {
  for (const [index, { name }] of configUnits.entries()) {
    const path = `configUnits[${index}].name`;
    const refuse = (why: string) =>
      new RailheadError('INVALID_CONFIG', `${path}: ${String(name)} ${why}`, { path });
    if (typeof name !== 'string' || !new RegExp(unitNamePattern).test(name)) throw refuse('is no unit name');
    if (Object.hasOwn(builtinUnits, name)) throw refuse('is built in');
    if (configUnits.findIndex((unit) => unit.name === name) < index) throw refuse('is there twice');
  }
  return configUnits;
}

/** What is wrong with units of a profile that are not built in: nobody has added them, or their settings are not what their schema says. */
export function configUnitIssues(
  hostConfig: HostConfig | undefined,
  configUnits: readonly ConfigUnit[],
): Issue[] {
  const units = Object.entries((hostConfig ?? {}) as Record<string, Record<string, unknown>>);
  return units.flatMap(([name, settings]) => {
    if (Object.hasOwn(builtinUnits, name)) return [];
    const added = configUnits.find((unit) => unit.name === name);
    return added === undefined ? [unknownUnit(name)] : settingsIssues(added, settings);
  });
}

function unknownUnit(name: string): Issue {
  const known = Object.keys(builtinUnits).join(', ');
  return { path: `hostConfig.${name}`, message: `is no unit that is built in (${known}) or was added` };
}

function settingsIssues({ name, settings }: ConfigUnit, value: Record<string, unknown>): Issue[] {
  const { when, ...rest } = value;
  const schema = Type.Object({ hostConfig: Type.Object({ [name]: settings ?? Type.Unknown() }) });
  const own = findIssues(schema, { hostConfig: { [name]: rest } });
  const refused = Object.entries(refusedInUnit(name, when === undefined ? {} : { when }));
  return [...own, ...refused.map(([field, message]) => ({ path: `hostConfig.${name}.${field}`, message }))];
}
