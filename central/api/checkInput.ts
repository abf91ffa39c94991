import type { TSchema } from 'typebox';
import { type FieldSegments, fieldPath } from '#contract/fieldPath.ts';
import { jsonFaults, plainCopy } from '#contract/jsonValue.ts';
import { issueError, validator } from '#contract/validate.ts';

type Check = (value: unknown) => unknown;

/**
 * Checks the inputs of a method by its schema, and returns each with the defaults filled in. No input has the character NUL: PostgreSQL
 * cannot store it, and no name, address or document means anything by it.
 */
export function inputCheck(schema: TSchema): Check {
  const check = validator(schema);
  return (value) => {
    const valid = check(value);
    const nul = placeOfNul(valid, []);
    if (nul !== undefined) throw refusal(nul, 'must not have the character NUL');
    return valid;
  };
}

/** `inputCheck` for values that were no JSON before: a Date or a function is refused; what is undefined is missing. */
export function inProcessCheck(schema: TSchema): Check {
  const check = inputCheck(schema);
  return (value) => {
    const fault = jsonFaults(plainCopy(value), []).find(({ at }) => valueAt(value, at) !== undefined);
    if (fault !== undefined) throw refusal(fault.at, fault.message);
    return check(value);
  };
}

function placeOfNul(value: unknown, at: FieldSegments): FieldSegments | undefined {
  if (typeof value === 'string') return value.includes('\0') ? at : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, inside] of Object.entries(value)) {
    const place = [...at, Array.isArray(value) ? Number(key) : key];
    const found = key.includes('\0') ? place : placeOfNul(inside, place);
    if (found !== undefined) return found;
  }
  return undefined;
}

function valueAt(value: unknown, at: FieldSegments): unknown {
  return at.reduce<unknown>((inside, key) => (inside as Record<string, unknown>)[key], value);
}

function refusal(at: FieldSegments, message: string) {
  return issueError({ path: fieldPath(at), message }, 'INVALID_INPUT');
}
