import { holds, parseWhen, whenFault } from '#contract/when.ts';
import { text } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

/** A label expression: parsed and held against labels, or a fault that says where. */
export const target: FuzzTarget = {
  seeds: ['gpu', 'a == "x" && !(b != y || c not in (d, e:f))', '((((((a))))))', 'a in ()', '"\\"'].map(text),
  longest: 4096,
  run(input) {
    const expression = input.toString('utf8');
    const parsed = parseWhen(expression);
    if ('expression' in parsed) holds(parsed.expression, { gpu: 'true', a: 'x', __proto__: 'y' } as never);
    else if (whenFault(expression)!.at > expression.length) throw new Error('the fault lies behind the end');
  },
};
