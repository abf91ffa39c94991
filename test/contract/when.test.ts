import fc from 'fast-check';
import { expect, test } from 'vitest';
import { holds, type Labels, longestWhen, parseWhen, type WhenExpression } from '#contract/when.ts';

function isTrue(text: string, labels: Labels): boolean {
  const parsed = parseWhen(text);
  if ('fault' in parsed) throw new Error(`${text}: ${parsed.fault.message}`);
  return holds(parsed.expression, labels);
}

const machine = {
  nvswitch: 'true',
  arch: 'x86_64',
  'gpu.count': '8',
  'example.com/rack': 'r 1',
  spare: 'false',
};

test.each([
  ['nvswitch', true],
  ['spare', false],
  ['absent', false],
  ['!absent', true],
  ['arch == x86_64', true],
  ['arch == "x86_64"', true],
  ['arch != aarch64', true],
  ['absent != anything', true],
  ['absent == anything', false],
  ['example.com/rack == "r 1"', true],
  ['gpu.count in (4, 8)', true],
  ['gpu.count not in (4, 8)', false],
  ['absent not in (4)', true],
  ['absent || nvswitch && arch == x86_64', true],
  ['(absent || nvswitch) && spare', false],
  ['!(absent || spare)', true],
  ['!!nvswitch', true],
])('%s is %s', (text, expected) => expect(isTrue(text, machine)).toBe(expected));

test.each([
  ['', 0, 'expects a label at character 1, not the end'],
  ['a &&', 4, 'expects a label at character 5, not the end'],
  ['a b', 2, 'expects &&, || or the end at character 3, not b'],
  ['a = b', 2, 'expects &&, || or the end at character 3, not ='],
  ['(a', 2, 'expects ) at character 3, not the end'],
  ['a in b', 5, 'expects ( at character 6, not b'],
  ['a in ()', 6, 'expects a value at character 7, not )'],
  ['in', 0, 'expects a label at character 1, not in'],
  ['a == "open', 5, 'expects a value at character 6, not "'],
  ['1a', 0, 'expects a label at character 1, not 1a'],
  ['a'.repeat(longestWhen + 1), longestWhen, `is longer than ${longestWhen} characters`],
])('%s is refused where it goes wrong', (text, at, message) =>
  expect(parseWhen(text)).toEqual({ fault: { at, message } }),
);

test('labels that every object inherits are not there', () => {
  expect(isTrue('constructor || toString', {})).toBe(false);
});

/** Expressions and how they are written, with every pair of parentheses that the grammar needs. */
const word = fc
  .stringMatching(/^[A-Za-z][A-Za-z0-9._/-]{0,5}$/)
  .filter((text) => !['in', 'not'].includes(text));
const { tree } = fc.letrec<{ tree: WhenExpression }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    fc.record({ kind: fc.constant('has' as const), label: word }),
    fc.record({
      kind: fc.constant('in' as const),
      label: word,
      values: fc.array(fc.string({ maxLength: 6 }), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant('not' as const), term: tie('tree') }),
    fc.record({
      kind: fc.constantFrom('or' as const, 'and' as const),
      terms: fc.array(tie('tree'), { minLength: 2, maxLength: 3 }),
    }) as fc.Arbitrary<WhenExpression>,
  ),
}));

function written(expression: WhenExpression): string {
  const quoted = (value: string) => `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
  switch (expression.kind) {
    case 'has':
      return expression.label;
    case 'in':
      return `${expression.label} in (${expression.values.map(quoted).join(', ')})`;
    case 'not':
      return `!(${written(expression.term)})`;
    default:
      return expression.terms
        .map((term) => `(${written(term)})`)
        .join(expression.kind === 'or' ? ' || ' : '&&');
  }
}

test('what is written down is read back as the same expression', () => {
  fc.assert(
    fc.property(tree, (expression) => {
      const text = written(expression);
      fc.pre(text.length <= longestWhen);
      expect(parseWhen(text)).toEqual({ expression });
    }),
  );
});

test('the parser takes any text and never throws', () => {
  const piece = fc.constantFrom('(', ')', '!', '&&', '||', '==', ' ', 'in', 'not', ',', '"', '\\', 'a', '0');
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 600 }),
    fc.array(piece, { maxLength: 500 }).map((all) => all.join('')),
  );
  fc.assert(
    fc.property(text, (input) => {
      const parsed = parseWhen(input);
      if ('fault' in parsed) expect(parsed.fault.at).toBeLessThanOrEqual(input.length);
      else expect(typeof holds(parsed.expression, machine)).toBe('boolean');
    }),
    { numRuns: 500 },
  );
});

test('the deepest nesting that fits is read', () => {
  const half = (longestWhen - 2) / 2;
  expect(isTrue(`${'('.repeat(half)}a${')'.repeat(half)}`, { a: 'yes' })).toBe(true);
  expect(isTrue(`${'!'.repeat(longestWhen - 1)}a`, { a: 'yes' })).toBe(false);
});
