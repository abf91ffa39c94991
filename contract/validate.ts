import type { Static, TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { type ErrorCode, RailheadError } from './errors.ts';

/**
 * A copy of `value` with the schema's defaults filled in. Unknown fields are errors where the schema says
 * `additionalProperties: false`; nothing is coerced.
 * @throws RailheadError of `code` whose details hold the first offending `path` (`steps[2].timeout`) and what was `expected`
 */
export function validate<Schema extends TSchema>(
  schema: Schema,
  value: unknown,
  code: ErrorCode = 'INVALID_INPUT',
): Static<Schema> {
  const filled = Value.Default(schema, structuredClone(value));
  const first = Value.Errors(schema, filled)[0];
  if (first === undefined) return filled as Static<Schema>;
  const path = fieldPath(first);
  const expected = expectation(first);
  throw new RailheadError(code, `${path === '' ? 'the document' : path}: ${expected}`, { path, expected });
}

type SchemaIssue = ReturnType<typeof Value.Errors>[number];

function expectation(issue: SchemaIssue): string {
  if (issue.keyword === 'enum') return `must be one of ${issue.params.allowedValues.join(', ')}`;
  if (issue.keyword === 'required') return 'is required';
  if (issue.keyword === 'boolean' || issue.keyword === 'additionalProperties') return 'is not a known field';
  return issue.message;
}

/** The dotted path of the field that an issue is about, the missing or unknown field itself included. */
function fieldPath(issue: SchemaIssue): string {
  const pointer = issue.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return [...pointer, ...namedFields(issue)].reduce(appendPart, '');
}

function namedFields(issue: SchemaIssue): string[] {
  if (issue.keyword === 'required') return issue.params.requiredProperties.slice(0, 1);
  if (issue.keyword === 'additionalProperties') return issue.params.additionalProperties.slice(0, 1);
  return [];
}

function appendPart(path: string, part: string): string {
  if (/^\d+$/.test(part)) return `${path}[${part}]`;
  return path === '' ? part : `${path}.${part}`;
}
