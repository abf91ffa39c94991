import { types } from 'node:util';
import type { FieldSegments } from './fieldPath.ts';

/** Documents are a handful of levels deep; what is nested deeper would only exhaust the stack of whoever reads it. */
export const deepest = 64;
/** What is copied of a deeper one, so that rules which count what it holds find it. */
const deepestCopied = 1024;

export const tooDeep = `is nested deeper than ${deepest} levels`;

/** Stands in a copy in the place of what JSON cannot write. */
export class NotJson {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}

/**
 * A copy of a value in which `NotJson` stands wherever JSON could not write it. It ends for cyclic values, and no code of the
 * value's own runs: no getter, no trap of a proxy, no `toString`.
 */
export function plainCopy(value: unknown, above: readonly unknown[] = []): unknown {
  const fault = whyNotJson(value) ?? whyNotTree(value, above);
  if (fault !== undefined) return new NotJson(fault);
  if (typeof value !== 'object' || value === null) return value;
  const inside = [...above, value];
  const copied = (key: string | symbol) => {
    const property = Object.getOwnPropertyDescriptor(value, key);
    const why = whyNotPlain(key, property);
    return why === undefined ? plainCopy(property?.value, inside) : new NotJson(why);
  };
  if (Array.isArray(value)) return Array.from({ length: value.length }, (_, index) => copied(String(index)));
  const copy = {};
  for (const key of Reflect.ownKeys(value))
    Object.defineProperty(copy, key, {
      value: copied(key),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  return copy;
}

/** A place in a document that JSON cannot write. */
export interface JsonFault {
  at: FieldSegments;
  message: string;
}

/** Every `NotJson` in a copy, in document order. */
export function jsonFaults(copy: unknown, at: FieldSegments): JsonFault[] {
  if (copy instanceof NotJson) return [{ at, message: copy.why }];
  if (typeof copy !== 'object' || copy === null) return [];
  if (at.length > deepest) return [{ at, message: tooDeep }];
  if (Array.isArray(copy)) return copy.flatMap((item, index) => jsonFaults(item, [...at, index]));
  return Reflect.ownKeys(copy).flatMap((key) =>
    jsonFaults((copy as Record<string | symbol, unknown>)[key], [...at, String(key)]),
  );
}

/** Whether a tree is nested deeper than any document: copying it would exhaust the stack. */
export function isTooDeep(value: unknown, levels: number = deepest): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inside) => isTooDeep(inside, levels - 1));
}

/** Why this value is none that JSON can write, looking at it alone and not inside; undefined when it is one. */
function whyNotJson(value: unknown): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : `is ${value}, which is no JSON number`;
  if (typeof value !== 'object') return `is ${aKindOf(value)}, which is not JSON`;
  if (types.isProxy(value)) return 'is a proxy, which is not JSON';
  if (Array.isArray(value)) return whyNotJsonArray(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || isObjectPrototype(prototype)) return undefined;
  return `is an object of class ${classNameOf(prototype) ?? 'unknown'}, which is not JSON`;
}

/** That of this realm, or of another one: a test runner and `node:vm` have their own. */
function isObjectPrototype(prototype: unknown): boolean {
  if (prototype === Object.prototype) return true;
  if (types.isProxy(prototype)) return false;
  return Object.getPrototypeOf(prototype) === null && classNameOf(prototype) === 'Object';
}

function classNameOf(prototype: unknown): string | undefined {
  const name = ownValue(ownValue(prototype, 'constructor'), 'name');
  return typeof name === 'string' ? name : undefined;
}

/** The value of a property, unless that is computed when read. */
function ownValue(of: unknown, key: string): unknown {
  const isObject = (typeof of === 'object' && of !== null) || typeof of === 'function';
  return isObject && !types.isProxy(of) ? Object.getOwnPropertyDescriptor(of, key)?.value : undefined;
}

/** Why a property is none that JSON writes as it stands. */
function whyNotPlain(key: string | symbol, property: PropertyDescriptor | undefined): string | undefined {
  if (typeof key === 'symbol') return 'is named by a symbol, which is not JSON';
  if (property?.get !== undefined || property?.set !== undefined) return 'is a getter, not a value';
  return property?.enumerable === false ? 'is hidden (not enumerable), which is not JSON' : undefined;
}

/** Why a value is no part of a tree: it contains itself, or lies too deep. */
function whyNotTree(value: unknown, above: readonly unknown[]): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (above.includes(value)) return 'contains itself, which JSON cannot write';
  return above.length > deepestCopied ? tooDeep : undefined;
}

function whyNotJsonArray(value: unknown[]): string | undefined {
  const keys = Reflect.ownKeys(value).filter((key) => key !== 'length');
  if (keys.some((key) => typeof key === 'symbol' || !/^\d+$/.test(key)))
    return 'is an array with named properties, which is not JSON';
  return keys.length < value.length ? 'is an array with holes, which is not JSON' : undefined;
}

function aKindOf(value: unknown): string {
  return value === undefined ? 'undefined' : `a ${typeof value}`;
}
