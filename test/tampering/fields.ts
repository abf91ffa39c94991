import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';

/** What these tests read of a JSON schema. */
interface Shape {
  type?: string;
  properties?: Record<string, TSchema>;
  additionalProperties?: boolean;
  enum?: readonly unknown[];
  const?: unknown;
  items?: TSchema;
  pattern?: string;
  minLength?: number;
  minimum?: number;
  anyOf?: readonly TSchema[];
}

const shapeOf = (schema: TSchema) => schema as unknown as Shape;

/** Every field of a message: the path of each leaf of its schema, optional ones too. A field that is added to the contract is here by itself. */
export function fieldsOf(schema: TSchema, prefix = ''): string[] {
  const { properties = {}, anyOf } = shapeOf(schema);
  if (anyOf !== undefined) return [...new Set(anyOf.flatMap((part) => fieldsOf(part, prefix)))];
  const names = Object.entries(properties);
  if (names.length === 0) return [prefix];
  return names.flatMap(([name, part]) => fieldsOf(part, prefix === '' ? name : `${prefix}.${name}`));
}

/** The message with one field changed to another value that its schema allows: only a signature can tell. A field that is not there is added. */
export function changed<Message extends object>(message: Message, field: string, schema: TSchema): Message {
  const copy = structuredClone(message) as Record<string, unknown>;
  const names = field.split('.');
  let place = copy;
  for (const [index, name] of names.slice(0, -1).entries()) {
    place[name] ??= otherThan(undefined, schemaAt(schema, names.slice(0, index + 1)));
    place = place[name] as Record<string, unknown>;
  }
  const last = names.at(-1) ?? '';
  place[last] = otherThan(place[last], schemaAt(schema, names));
  return copy as Message;
}

function schemaAt(schema: TSchema, names: readonly string[]): TSchema {
  return names.reduce((part, name) => {
    const { anyOf = [part] } = shapeOf(part);
    const found = anyOf.map((form) => shapeOf(form).properties?.[name]).find((field) => field !== undefined);
    if (found === undefined) throw new Error(`no field ${names.join('.')}`);
    return found;
  }, schema);
}

/** Another value that the schema allows. */
export function otherThan(value: unknown, schema: TSchema): unknown {
  const candidates = fc.sample(valuesOf(schema), { numRuns: 50, seed: 1 });
  const other = candidates.find((each) => !isDeepStrictEqual(each, value) && Value.Check(schema, each));
  // A field that has but one value can only be changed to what it may not be.
  return other ?? 'another value';
}

function valuesOf(schema: TSchema): fc.Arbitrary<unknown> {
  const shape = shapeOf(schema);
  if (shape.const !== undefined) return fc.constant(shape.const);
  if (shape.enum !== undefined) return fc.constantFrom(...shape.enum);
  if (shape.type === 'object') {
    const parts = Object.entries(shape.properties ?? {}).map(([name, part]) => [name, valuesOf(part)]);
    if (parts.length > 0) return fc.record(Object.fromEntries(parts));
    return shape.additionalProperties === false ? fc.constant({}) : fc.record({ added: fc.integer() });
  }
  if (shape.type === 'array')
    return fc.array(valuesOf(shape.items as TSchema), { minLength: 1, maxLength: 2 });
  if (shape.type === 'integer') return fc.integer({ min: shape.minimum ?? 0, max: 1_000_000 });
  if (shape.type === 'number') return fc.integer({ min: shape.minimum ?? 0, max: 1_000_000 });
  if (shape.type === 'boolean') return fc.boolean();
  if (shape.pattern !== undefined) return fc.stringMatching(new RegExp(shape.pattern));
  // Times and free texts alike: what follows is a time in the year 2100.
  return fc.integer({ min: 0, max: 999 }).map((n) => `2100-01-01T00:00:00.${String(n).padStart(3, '0')}Z`);
}

/** A compact JWS or JWE with its payload changed and its signature left: what a relay can do without the key. */
export function withPayload(jws: string, change: (document: object) => object): string {
  const [header, payload = '', signature] = jws.split('.');
  const document = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const altered = Buffer.from(JSON.stringify(change(document))).toString('base64url');
  return [header, altered, signature].join('.');
}
