import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Value } from 'typebox/value';
import { withDefaults } from './defaults.ts';
import { type ErrorCode, RailheadError } from './errors.ts';
import { type FindOptions, findIssues, type Issue } from './findIssues.ts';
import { isTooDeep, tooDeep } from './jsonValue.ts';

/**
 * A copy of `value` with the schema's defaults filled in. Unknown fields are errors where the schema says
 * `additionalProperties: false`; nothing is coerced.
 * @throws RailheadError of `code` whose details hold the `path` of the first offending field in document order
 *   (`steps[2].timeout`) and what was `expected`
 */
export function validate<Schema extends TSchema>(
  schema: Schema,
  value: unknown,
  code: ErrorCode = 'INVALID_INPUT',
  options: FindOptions = {},
): Static<Schema> {
  // What JSON cannot write might not survive the copy: it is looked for in the value itself.
  const [fault] = options.jsonOnly ? findIssues(schema, value, options) : [];
  if (fault !== undefined) throw issueError(fault, code);
  if (isTooDeep(value)) throw issueError({ path: '', message: tooDeep }, code);
  const filled = copyWithDefaults(schema, value, code);
  const holds = Value.Check(schema, filled);
  if (holds && options.refused === undefined) return filled as Static<Schema>;
  const [first] = findIssues(schema, filled, options);
  if (holds && first === undefined) return filled as Static<Schema>;
  throw issueError(first ?? { path: '', message: 'is not what its schema says' }, code);
}

/**
 * `validate` for a schema that is met often: its check is compiled at the first call, which costs as much as a thousand checks
 * save.
 */
export function validator<Schema extends TSchema>(schema: Schema): (value: unknown) => Static<Schema> {
  let compiled: { Check(value: unknown): boolean } | undefined;
  return (value) => {
    if (isTooDeep(value)) return validate(schema, value);
    const filled = withDefaults(schema, value);
    compiled ??= Compile(schema);
    return compiled.Check(filled) ? (filled as Static<Schema>) : validate(schema, value);
  };
}

/** The error that says one issue. */
export function issueError({ path, message }: Issue, code: ErrorCode): RailheadError {
  return new RailheadError(code, `${path === '' ? 'the document' : path}: ${message}`, {
    path,
    expected: message,
  });
}

function copyWithDefaults(schema: TSchema, value: unknown, code: ErrorCode): unknown {
  try {
    return withDefaults(schema, value);
  } catch (cause) {
    throw new RailheadError(
      code,
      'the document holds what is not JSON: a function, a proxy or the like',
      {},
      cause,
    );
  }
}
