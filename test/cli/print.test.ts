import { expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import type { OutputFormat } from '#cli/client.ts';
import { printList, printRecord } from '#cli/print.ts';

const rows = [
  { imageId: 'img_1', ref: 'a@1', verified: true, details: { deep: ['x'] } },
  { imageId: 'img_22', ref: 'b@1', verified: false },
];

function printed(print: () => void): string {
  const spy = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    print();
    return spy.mock.calls.map(([chunk]) => String(chunk)).join('');
  } finally {
    spy.mockRestore();
  }
}
const list = (format: OutputFormat) => printed(() => printList(rows, ['imageId', 'ref', 'details'], format));

test('a table has the chosen columns, aligned', () => {
  expect(list('table')).toBe('imageId  ref  details\nimg_1    a@1  {"deep":["x"]}\nimg_22   b@1  -\n');
});

test('what a tenant wrote neither colours the terminal nor begins a row', () => {
  const name = 'a\u001b[31mred\nrow2  x\u202e\u0085';
  const table = printed(() => printList([{ name }], ['name'], 'table'));
  expect(table).toBe('name\na\\u001b[31mred\\u000arow2  x\\u202e\\u0085\n');
  expect(JSON.parse(printed(() => printList([{ name }], ['name'], 'json')))).toEqual([{ name }]);
});

test('json and yaml have every field', () => {
  expect(JSON.parse(list('json'))).toEqual(rows);
  expect(parse(list('yaml'))).toEqual(rows);
});

test('a record is a line per field, or the same documents', () => {
  const record = (format: OutputFormat) => printed(() => printRecord(rows[0] ?? {}, format));
  expect(record('table')).toBe('imageId: img_1\nref: a@1\nverified: true\ndetails: {"deep":["x"]}\n');
  expect(JSON.parse(record('json'))).toEqual(rows[0]);
  expect(parse(record('yaml'))).toEqual(rows[0]);
});
