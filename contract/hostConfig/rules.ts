import type { FieldSegments } from '../fieldPath.ts';
import type { FindOptions } from '../findIssues.ts';
import { whenFault } from '../when.ts';
import { sysctlRefusal } from './sysctls.ts';
import { unitOfPolicy } from './units.ts';

type Refused = Record<string, string>;
type Settings = Record<string, unknown>;

/** What `hostConfig` may not hold although it has the form; `at` leads from it to the object `value`. */
export function refusedInHostConfig(at: FieldSegments, value: Settings): Refused {
  const [unit] = at;
  if (at.length === 1 && typeof unit === 'string') return refusedInUnit(unit, value);
  return at.length === 0 && isWithoutLayout(value['mig-layout'])
    ? { 'mig-layout': "needs from: 'pool' or a layout" }
    : {};
}

function isWithoutLayout(settings: unknown): boolean {
  return (
    typeof settings === 'object' && settings !== null && !('from' in settings) && !('layout' in settings)
  );
}

/** What a unit's settings may not hold although they have the form: by field, why. */
export function refusedInUnit(unit: string, settings: Settings): Refused {
  const fault = typeof settings.when === 'string' ? whenFault(settings.when) : undefined;
  const own = rules[unit]?.(settings) ?? {};
  return fault === undefined ? own : { ...own, when: fault.message };
}

const rules: Readonly<Record<string, (settings: Settings) => Refused>> = {
  sysctl: ({ when: _, ...values }) =>
    Object.fromEntries(
      Object.entries(values).flatMap(([name, value]) => {
        const why = sysctlRefusal(name, value);
        return why === undefined ? [] : [[name, `${name} ${why}`]];
      }),
    ),
  cpu: ({ isolate }) =>
    typeof isolate === 'string' && hasRangeBackwards(isolate)
      ? { isolate: 'has a range that ends before it begins' }
      : {},
  'mig-layout': ({ from, layout }) => {
    if (from !== undefined && layout !== undefined) return { layout: "does not go with from: 'pool'" };
    return {};
  },
};

function hasRangeBackwards(cpuList: string): boolean {
  return cpuList.split(',').some((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return last < first;
  });
}

/** The rules of the unit fields of a pool's policy, which `at` leads to. */
export const poolUnitRules: FindOptions = {
  refused: (at, value) => {
    const field = at.at(-1);
    const isUnit = at.length === 2 && at[0] === 'policy' && typeof field === 'string';
    if (!isUnit || !Object.hasOwn(unitOfPolicy, field)) return {};
    return refusedInUnit(unitOfPolicy[field as keyof typeof unitOfPolicy], value);
  },
};
