import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { migrations } from '#central/store/migrations.ts';
import { sealedColumns } from '#central/store/resealing.ts';

test('every column that holds encrypted bytes is encrypted anew when the key at rest is retired', () => {
  const database = new Database(':memory:');
  for (const sql of migrations) database.exec(sql);
  const tables = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .pluck()
    .all() as string[];
  const withBytes = tables.flatMap((table) => {
    const columns = database.pragma(`table_info(${table})`) as { name: string; type: string }[];
    return columns.filter(({ type }) => type === 'BLOB').map(({ name }) => `${table}.${name}`);
  });
  expect(sealedColumns.map(({ table }) => `${table}.sealed`).sort()).toEqual(withBytes.sort());
});
