import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ApiContext } from '#central/api/method.ts';
import type { Caller } from '#central/api/tokens.ts';
import { takeLine } from '#central/events.ts';
import { nodeConsole } from '#central/groups/nodeConsole.ts';
import { workflows } from '#central/groups/workflows.ts';
import { openSignals } from '#central/signals.ts';
import type { Queries, Store } from '#central/store/store.ts';
import { claimWorkflow } from '#central/workflows/claims.ts';
import { finishWorkflow, insertWorkflow } from '#central/workflows/records.ts';
import { dialect } from './directory.ts';
import { openBooks } from './openBooks.ts';
import { addSite } from './retention/oldBooks.ts';
import { testTimes } from './times.ts';

/** SQLite has one writer at a time: nothing can come between there. */
const onPostgres = test.runIf(dialect === 'postgres');
const nodeId = 'node-1';
let store: Store;
let close: () => Promise<void>;

beforeEach(async () => {
  ({ store, close } = await openBooks());
  await addSite(store);
  await store
    .updateTable('nodes')
    .set({ bmc: JSON.stringify({ driver: 'redfish', address: 'https://10.0.0.1' }) })
    .execute();
});
afterEach(() => close());

async function begin(queries: Queries) {
  const node = await queries
    .selectFrom('nodes')
    .selectAll()
    .where('node_id', '=', nodeId)
    .executeTakeFirstOrThrow();
  const profile = { id: 'p', version: 1 } as never;
  const id = await insertWorkflow(queries, {
    ...{ node, profile, profileTenantId: 'root', plan: [], createdBy: 'test' },
  });
  return queries.selectFrom('workflows').selectAll().where('workflow_id', '=', id).executeTakeFirstOrThrow();
}

/** While `work` waits for the line of the node, whoever has it goes on with `meanwhile`. */
async function inLine(work: () => Promise<unknown>, meanwhile: (queries: Queries) => Promise<unknown>) {
  const waiting = sql`SELECT pid FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  let working: Promise<unknown> | undefined;
  await store.transaction().execute(async (queries) => {
    await takeLine(queries, nodeId);
    working = work();
    working.catch(() => undefined);
    await expect.poll(async () => (await waiting.execute(queries)).rows.length).toBeGreaterThan(0);
    await meanwhile(queries);
  });
  await working;
}

const changeNode = (queries: Queries) =>
  queries.updateTable('nodes').set({ labels: '{}' }).where('node_id', '=', nodeId).execute();
const context = () =>
  ({ store, signals: openSignals(), engine: { cancel: () => undefined } }) as unknown as ApiContext;
const caller = { tokenId: 'tok_1' } as Caller;
const never = new AbortController().signal;

onPostgres('who asks for a recording waits for its turn before it changes the node', () =>
  inLine(
    async () =>
      nodeConsole.recordConsole?.run(context(), { tenantId: 'root', nodeId, for: '1m' }, caller, never),
    changeNode,
  ),
);

onPostgres('so does a workflow that ends, before it makes way for the next one', async () => {
  const workflow = await begin(store);
  const claim = await claimWorkflow({ store, instance: 'a', times: testTimes }, workflow.workflow_id);
  if (claim === undefined) throw new Error('nobody else claims it');
  await inLine(
    () => finishWorkflow(store, { ...workflow, ...claim }, 'succeeded', undefined),
    async (queries) => {
      await changeNode(queries);
      await queries
        .updateTable('workflows')
        .set({ cancelled_by: 'test' })
        .where('workflow_id', '=', workflow.workflow_id)
        .execute();
    },
  );
});

onPostgres('and who cancels one', async () => {
  const { workflow_id: workflowId } = await begin(store);
  await inLine(
    async () => workflows.cancel?.run(context(), { tenantId: 'root', workflowId }, caller, never),
    (queries) =>
      queries.updateTable('workflows').set({ error: '{}' }).where('workflow_id', '=', workflowId).execute(),
  );
});
