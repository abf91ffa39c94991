import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { vendors } from '#redfish/vendors/index.ts';
import { bmcTable } from '#redfish/vendors/page.ts';

const page = 'docs/hardware.md';
const [begin, end] = ['<!-- made from redfish/vendors/ -->', '<!-- end -->'];

/** `vitest run -u --project unit test/redfish/hardwarePage.test.ts` writes it. */
test('the page of hardware has the quirks of every vendor', async () => {
  const text = readFileSync(page, 'utf8');
  const [before = '', rest = ''] = text.split(begin);
  const after = rest.slice(rest.indexOf(end));
  expect(after.startsWith(end)).toBe(true);
  await expect(`${before}${begin}\n${bmcTable()}\n${after}`).toMatchFileSnapshot(`../../${page}`);
});

const tests = globSync('test/redfish/*.test.ts')
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

test.each(vendors.flatMap(({ quirks }) => quirks))(
  '“$does” ($device) is shown by a test',
  ({ knownFrom, shownBy }) => {
    expect(knownFrom).not.toBe('');
    expect(tests).toContain(`'${shownBy}'`);
  },
);

test.each(vendors.filter(({ name }) => name !== 'generic').map(({ name }) => name))(
  'there is a recorded shape of %s',
  (name) => {
    expect(globSync(`test/fixtures/redfish/${name}/*.json`)).not.toEqual([]);
  },
);
