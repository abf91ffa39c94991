import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';

/** The parts of a JSON schema that say what stands in the place of what is missing, or lead to such. */
interface Defaulted {
  default?: unknown;
  $ref?: string;
  $defs?: Record<string, TSchema>;
  properties?: Record<string, TSchema>;
  patternProperties?: Record<string, TSchema>;
  items?: TSchema;
  anyOf?: TSchema[];
}

type Definitions = Readonly<Record<string, TSchema>>;

/**
 * A copy of `value` with the schema's defaults in the place of what is missing. What the schema does not know stays as it is, for who
 * checks it to say so. (typebox's own `Value.Default` throws at a name that a record does not allow.)
 */
export function withDefaults(schema: TSchema, value: unknown): unknown {
  return filled(schema, structuredClone(value), {});
}

/** Fills `value` where it stands. */
function filled(schema: TSchema, value: unknown, known: Definitions): unknown {
  const { default: preset, $ref, $defs, anyOf, items } = schema as Defaulted;
  const found = value === undefined && preset !== undefined ? structuredClone(preset) : value;
  if ($ref !== undefined) return filledByName($ref, found, { ...known, ...$defs });
  if (anyOf !== undefined) return filledAlternative(anyOf, found, known);
  if (Array.isArray(found))
    return items === undefined ? found : found.map((item) => filled(items, item, known));
  if (typeof found === 'object' && found !== null) fillFields(schema, found as Fields, known);
  return found;
}

type Fields = Record<string, unknown>;

function fillFields(schema: TSchema, fields: Fields, known: Definitions): void {
  const { properties = {}, patternProperties = {} } = schema as Defaulted;
  for (const [name, field] of Object.entries(properties)) {
    const value = filled(field, Object.hasOwn(fields, name) ? fields[name] : undefined, known);
    if (value !== undefined) fields[name] = value;
  }
  for (const [pattern, field] of Object.entries(patternProperties))
    for (const name of Object.keys(fields).filter((each) => new RegExp(pattern).test(each)))
      fields[name] = filled(field, fields[name], known);
}

function filledByName(name: string, value: unknown, known: Definitions): unknown {
  const schema = known[name];
  return schema === undefined ? value : filled(schema, value, known);
}

/** As the first alternative that the value fits then. */
function filledAlternative(alternatives: readonly TSchema[], value: unknown, known: Definitions): unknown {
  for (const schema of alternatives) {
    const candidate = filled(schema, structuredClone(value), known);
    if (Value.Check(known, schema, candidate)) return candidate;
  }
  return value;
}
