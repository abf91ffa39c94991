import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { type FieldSegments, fieldPath } from './fieldPath.ts';
import { deepest, jsonFaults, NotJson, plainCopy, tooDeep } from './jsonValue.ts';

/** What is wrong with one field of a document. */
export interface Issue {
  /** `steps[2].timeout`; empty for the document itself. */
  path: string;
  /** What is wrong, to be read after the path: `is required`. */
  message: string;
}

export interface FindOptions {
  /** Rules between the fields of one object: refused fields of the object at `at`, with why. */
  refused?: (at: FieldSegments, value: Record<string, unknown>) => Record<string, string>;
  /**
   * Refuses what JSON cannot write (undefined, Date, NaN, getters, proxies, cycles …) without running any code of the value's own;
   * without it, undefined is a missing field.
   */
  jsonOnly?: boolean;
}

/** The parts of a JSON schema that lead further down. */
interface Container {
  $ref?: string;
  $defs?: Record<string, TSchema>;
  properties?: Record<string, TSchema>;
  required?: string[];
  patternProperties?: Record<string, TSchema>;
  additionalProperties?: unknown;
  minProperties?: number;
  maxProperties?: number;
  items?: TSchema;
  anyOf?: TSchema[];
}

interface Walk extends FindOptions {
  defs: Record<string, TSchema>;
}

/**
 * Everything that is wrong with `value`, in document order: fields in the order of the schema, each with what is inside it, then
 * unknown fields as they stand; arrays by index.
 */
export function findIssues(schema: TSchema, value: unknown, options: FindOptions = {}): Issue[] {
  return issuesAt(schema, options.jsonOnly ? plainCopy(value) : value, [], { ...options, defs: {} });
}

function issuesAt(schema: TSchema, value: unknown, at: FieldSegments, walk: Walk): Issue[] {
  if (value instanceof NotJson) return [issue(at, value.why)];
  if (walk.jsonOnly && at.length > deepest && isContainer(value)) return [issue(at, tooDeep)];
  const { $ref, $defs, properties, patternProperties, items, anyOf } = schema as Container;
  if ($ref !== undefined) return referredIssues($ref, $defs, value, at, walk);
  if (anyOf !== undefined) return unionIssues(anyOf, value, at, walk);
  if (isObject(value) && (properties ?? patternProperties) !== undefined)
    return objectIssues(schema as Container, value, at, walk);
  if (Array.isArray(value) && items !== undefined)
    return [
      ...ownIssues({ ...schema, items: {} }, value, at),
      ...value.flatMap((item, index) => issuesAt(items, item, [...at, index], walk)),
    ];
  const deeper = walk.jsonOnly ? jsonFaults(value, at) : [];
  if (deeper.length > 0) return deeper.map((one) => issue(one.at, one.message));
  return ownIssues(schema, value, at);
}

function referredIssues(
  ref: string,
  defs: Record<string, TSchema> | undefined,
  value: unknown,
  at: FieldSegments,
  walk: Walk,
): Issue[] {
  const known = { ...walk.defs, ...defs };
  const schema = known[ref];
  if (schema === undefined) throw new Error(`the schema refers to ${ref}, which it does not define`);
  return issuesAt(schema, value, at, { ...walk, defs: known });
}

/** What is wrong inside the one alternative that has the value's form; else that it is none of them. */
function unionIssues(alternatives: TSchema[], value: unknown, at: FieldSegments, walk: Walk): Issue[] {
  const [meant, ...others] = alternatives.filter((one) => formOf(one) === formOfValue(value));
  if (meant !== undefined && others.length === 0) return issuesAt(meant, value, at, walk);
  if (alternatives.some((one) => issuesAt(one, value, at, walk).length === 0)) return [];
  const forms = new Set(alternatives.map(formOf));
  return [issue(at, `must be ${[...forms].join(' or ')}`)];
}

function objectIssues(
  schema: Container,
  value: Record<string, unknown>,
  at: FieldSegments,
  walk: Walk,
): Issue[] {
  const refused = walk.refused?.(at, value) ?? {};
  const known = Object.keys(schema.properties ?? {});
  const others = Reflect.ownKeys(value).filter((key) => !known.includes(key as string));
  const visit = (key: string | symbol) => fieldIssues(schema, value, key, refused, at, walk);
  return [...countIssues(schema, value, at), ...known.flatMap(visit), ...others.flatMap(visit)];
}

/** How many fields an object has, asked without reading any of them. */
function countIssues(
  { minProperties = 0, maxProperties }: Container,
  value: object,
  at: FieldSegments,
): Issue[] {
  const count = Object.keys(value).length;
  if (count < minProperties) return [issue(at, `must have at least ${minProperties} fields`)];
  const tooMany = maxProperties !== undefined && count > maxProperties;
  return tooMany ? [issue(at, `must have at most ${maxProperties} fields`)] : [];
}

function fieldIssues(
  schema: Container,
  value: Record<string, unknown>,
  key: string | symbol,
  refused: Record<string, string>,
  at: FieldSegments,
  walk: Walk,
): Issue[] {
  const inside = [...at, String(key)];
  const found = Object.hasOwn(value, key) ? value[key as string] : undefined;
  if (found instanceof NotJson) return [issue(inside, found.why)];
  if (typeof key === 'symbol') return [issue(inside, notKnown)];
  const isThere = found !== undefined;
  if (isThere && refused[key] !== undefined) return [issue(inside, refused[key])];
  if (!isThere) return schema.required?.includes(key) ? [issue(inside, 'is required')] : [];
  const field = fieldSchema(schema, key);
  return field === undefined ? [issue(inside, notKnown)] : issuesAt(field, found, inside, walk);
}

const notKnown = 'is not a known field';

/** The schema of one field: named, by the pattern of its name, or free; undefined when there may be no such field. */
function fieldSchema(schema: Container, key: string): TSchema | undefined {
  if (Object.hasOwn(schema.properties ?? {}, key)) return schema.properties?.[key];
  const patterns = Object.entries(schema.patternProperties ?? {});
  const named = patterns.find(([pattern]) => new RegExp(pattern).test(key));
  if (named !== undefined) return named[1];
  return schema.additionalProperties === false ? undefined : {};
}

/** The first fault of a value whose inside is not looked at any further. */
function ownIssues(schema: TSchema, value: unknown, at: FieldSegments): Issue[] {
  const [first] = Value.Errors(schema, value);
  return first === undefined ? [] : [issue(at, expectation(first))];
}

function expectation(fault: ReturnType<typeof Value.Errors>[number]): string {
  return fault.keyword === 'enum' ? `must be one of ${fault.params.allowedValues.join(', ')}` : fault.message;
}

function issue(at: FieldSegments, message: string): Issue {
  return { path: fieldPath(at), message };
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function formOf(schema: TSchema): string {
  const { type } = schema as { type?: string };
  return type ?? 'another value';
}

function formOfValue(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value;
}
