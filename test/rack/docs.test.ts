import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { faultTable } from '#rack/bmc/faults.ts';

const page = 'docs/rack.md';
const [begin, end] = ['<!-- made from rack/bmc/faults.ts -->', '<!-- end -->'];

/** `vitest run -u --project unit test/rack/docs.test.ts` writes it. */
test('the page of the rack lists every fault', async () => {
  const text = readFileSync(page, 'utf8');
  const [before = '', rest = ''] = text.split(begin);
  const after = rest.slice(rest.indexOf(end));
  expect(after.startsWith(end)).toBe(true);
  await expect(`${before}${begin}\n${faultTable()}\n${after}`).toMatchFileSnapshot(`../../${page}`);
});
