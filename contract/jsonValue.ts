import type { FieldSegments } from './fieldPath.ts';

/** A place in a value that JSON cannot write. */
export interface JsonFault {
  at: FieldSegments;
  message: string;
}

/** Documents are a handful of levels deep; what is nested deeper would only exhaust the stack of whoever reads it. */
export const deepest = 64;

/** Why this value is none that JSON can write, looking at it alone and not inside; undefined when it is one. */
export function whyNotJson(value: unknown): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : `is ${value}, which is no JSON number`;
  if (typeof value !== 'object') return `is ${aKindOf(value)}, which is not JSON`;
  if (Array.isArray(value)) return whyNotJsonArray(value);
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return undefined;
  return `is an object of class ${value.constructor?.name ?? 'unknown'}, which is not JSON`;
}

/** Why a property cannot be read as JSON: it is computed when read. Asked before the property is touched. */
export function whyNotPlain(value: object, key: string | symbol): string | undefined {
  if (typeof key === 'symbol') return 'is named by a symbol, which is not JSON';
  const property = Object.getOwnPropertyDescriptor(value, key);
  return property?.get === undefined && property?.set === undefined ? undefined : 'is a getter, not a value';
}

/** Every place in `value` and below that is not JSON, in document order. It ends for cyclic values as well. */
export function jsonFaults(
  value: unknown,
  at: FieldSegments = [],
  above: readonly unknown[] = [],
): JsonFault[] {
  const fault = whyNotJson(value) ?? whyNotTree(value, above);
  if (fault !== undefined) return [{ at, message: fault }];
  if (typeof value !== 'object' || value === null) return [];
  return Reflect.ownKeys(value)
    .filter((key) => !(Array.isArray(value) && key === 'length'))
    .flatMap((key) => {
      const inside = [...at, segmentOf(value, key)];
      const unreadable = whyNotPlain(value, key);
      if (unreadable !== undefined) return [{ at: inside, message: unreadable }];
      return jsonFaults((value as Record<string, unknown>)[key as string], inside, [...above, value]);
    });
}

/** Why a value is no part of a tree: it contains itself, or lies too deep. */
export function whyNotTree(value: unknown, above: readonly unknown[]): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (above.includes(value)) return 'contains itself, which JSON cannot write';
  return above.length > deepest ? `is nested deeper than ${deepest} levels` : undefined;
}

/** Whether a tree is nested deeper than any document: copying it would exhaust the stack. */
export function isTooDeep(value: unknown, levels: number = deepest): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inside) => isTooDeep(inside, levels - 1));
}

function whyNotJsonArray(value: unknown[]): string | undefined {
  const keys = Object.keys(value);
  if (keys.length < value.length) return 'is an array with holes, which is not JSON';
  return keys.length > value.length ? 'is an array with named properties, which is not JSON' : undefined;
}

function segmentOf(value: object, key: string | symbol): string | number {
  return Array.isArray(value) ? Number(key) : String(key);
}

function aKindOf(value: unknown): string {
  return value === undefined ? 'undefined' : `a ${typeof value}`;
}
