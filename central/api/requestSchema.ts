import type { TSchema } from 'typebox';

/**
 * A method's input schema as a caller reads it: what has a default need not be sent. The schema itself requires such fields, since it is
 * checked after the defaults were filled in.
 */
export function requestSchema(schema: TSchema): TSchema {
  return withoutDefaulted(schema) as TSchema;
}

function withoutDefaulted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDefaulted);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withoutDefaulted(part)]));
  const { properties, required } = copy as { properties?: Record<string, object>; required?: unknown };
  if (properties === undefined || !Array.isArray(required)) return copy;
  return { ...copy, required: required.filter((name) => !('default' in (properties[name] ?? {}))) };
}
