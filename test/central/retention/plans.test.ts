import { Kysely, SqliteDialect } from 'kysely';
import { expect, test } from 'vitest';
import { openSqlite } from '#base/sqlite.ts';
import { checkKeep } from '#central/retention/keep.ts';
import { removeOld } from '#central/retention/round.ts';
import { migrations } from '#central/store/migrations.ts';
import type { Tables } from '#central/store/tables.ts';
import { dialect } from '../directory.ts';
import { addEvent, addJoin, addSite, addWorkflow, now } from './oldBooks.ts';

test.runIf(dialect === 'sqlite')(
  'a round finds what goes by an index, however large the books are',
  async () => {
    const database = openSqlite(':memory:', migrations);
    const asked = new Set<string>();
    const store = new Kysely<Tables>({
      dialect: new SqliteDialect({ database }),
      log: ({ query: { sql } }) => void asked.add(sql),
    });
    await addSite(store);
    for (const id of ['wf_1', 'wf_2']) await addWorkflow(store, { id, days: 900 });
    for (const days of [900, 800]) await addJoin(store, `${days}`, 'node-2', days);
    await addEvent(store, 'old', 900);
    asked.clear();
    const removed = await removeOld(store, checkKeep({ audit: 1 }), now, new AbortController().signal);
    expect(removed).toEqual({ machineEvents: 1, workflowEvents: 2, workflows: 1, joins: 1 });
    const statements = [...asked].filter((sql) => /^(select|delete|update)/.test(sql));
    expect(statements.length).toBeGreaterThan(15);
    const plans = statements.map((sql) => {
      const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters(sql)) as {
        detail: string;
      }[];
      return { sql, steps: steps.map(({ detail }) => detail) };
    });
    const costly = plans.filter(({ steps }) => steps.some((step) => /^SCAN|TEMP B-TREE/.test(step)));
    expect(costly).toEqual([]);
    await store.destroy();
  },
);

function parameters(sql: string): string[] {
  return sql
    .split('?')
    .slice(1)
    .map(() => '1');
}
