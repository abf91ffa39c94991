import type { TSchema } from 'typebox';
import { withDefaults } from '../defaults.ts';
import type { HostUnit } from '../nodeSpec.ts';
import { holds, type Labels, parseWhen } from '../when.ts';
import { builtinUnits, type HostConfig, type PoolUnits, unitOfPolicy } from './units.ts';

type Settings = Record<string, unknown>;

/** A unit that is added to the built-in ones; it is applied after them. */
export interface ConfigUnit {
  name: string;
  /** Schema of its settings; without one they are whatever is an object. `when` is always taken. */
  settings?: TSchema;
}

/** What a host's desired units come from. */
export interface HostConfigSources {
  /** Of the profile that was deployed last. */
  profile: HostConfig;
  /** Of the pool that the node is in. */
  policy: PoolUnits;
  labels: Labels;
  /** Added units, in the order of their application. */
  configUnits?: readonly ConfigUnit[];
}

/**
 * The units that a host converges to, in the order of their application: the built-in ones, those that were added, then names that nobody
 * knows, which the host reports as failed. A pool's unit replaces the profile's; one whose `when` does not hold is left out.
 */
export function desiredUnits(sources: HostConfigSources): HostUnit[] {
  const { profile, policy, labels, configUnits = [] } = sources;
  const wanted: Record<string, Settings> = { ...(profile as Record<string, Settings>), ...poolUnits(policy) };
  const known = [...Object.keys(builtinUnits), ...configUnits.map(({ name }) => name)];
  const unknown = Object.keys(wanted).filter((name) => !known.includes(name));
  return [...known, ...unknown].flatMap((unit) => {
    const { when, ...settings } = wanted[unit] ?? { when: undefined };
    if (wanted[unit] === undefined || !applies(when, labels)) return [];
    return [{ unit, settings: settled(unit, settings, policy) }];
  });
}

function poolUnits(policy: PoolUnits): Record<string, Settings> {
  const units = Object.entries(unitOfPolicy).flatMap(([field, unit]) => {
    const settings = policy[field as keyof typeof unitOfPolicy];
    return settings === undefined ? [] : [[unit, settings]];
  });
  return Object.fromEntries(units) as Record<string, Settings>;
}

/** An expression that does not parse was refused long ago; here it holds for nobody. */
function applies(when: unknown, labels: Labels): boolean {
  if (typeof when !== 'string') return true;
  const parsed = parseWhen(when);
  return 'expression' in parsed && holds(parsed.expression, labels);
}

/** Defaults filled in, and what is the pool's to say taken from it. */
function settled(unit: string, settings: Settings, { migLayout = {} }: PoolUnits): Settings {
  if (unit === 'mig-layout' && settings.from === 'pool') return { layout: migLayout };
  const schema = Object.hasOwn(builtinUnits, unit)
    ? builtinUnits[unit as keyof typeof builtinUnits]
    : undefined;
  return schema === undefined ? settings : (withDefaults(schema, settings) as Settings);
}
