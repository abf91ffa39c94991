import type { Static, TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { type ErrorCode, RailheadError } from './errors.ts';
import { type FindOptions, findIssues, type Issue } from './findIssues.ts';

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
  const filled = Value.Default(schema, structuredClone(value));
  const holds = Value.Check(schema, filled);
  if (holds && options.refused === undefined) return filled as Static<Schema>;
  const [first] = findIssues(schema, filled, options);
  if (holds && first === undefined) return filled as Static<Schema>;
  throw issueError(first ?? { path: '', message: 'is not what its schema says' }, code);
}

/** The error that says one issue. */
export function issueError({ path, message }: Issue, code: ErrorCode): RailheadError {
  return new RailheadError(code, `${path === '' ? 'the document' : path}: ${message}`, {
    path,
    expected: message,
  });
}
