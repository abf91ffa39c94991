import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { noteDiscovered, proposedMacs } from '#central/metal/discovery.ts';
import { newId } from '#contract/ids.ts';
import { openBooks } from '../openBooks.ts';
import { addSite, ago } from '../retention/oldBooks.ts';

test('of the hardware addresses that a site has discovered the last 10,000 are remembered', async () => {
  const { store, close } = await openBooks();
  onTestFinished(close);
  await addSite(store);
  await sql`
    INSERT INTO discovered_machines (site_id, mac, uuid, seen_at)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10000)
    SELECT 'site_1', 'mac ' || n, 'other', CASE WHEN n <= 5 THEN ${sql.lit(ago(900))} ELSE ${sql.lit(ago(1))} END FROM numbers`.execute(
    store,
  );
  const uuid = '4c4c4544-0000-1000-8000-000000000001';
  const event = {
    eventId: newId('ev'),
    type: 'machine.discovered',
    mac: '52:54:00:00:00:09',
    uuid,
    at: ago(0),
  };
  await noteDiscovered(store, 'site_1', event as never);
  expect(await proposedMacs(store, { site_id: 'site_1', uuid })).toEqual([event.mac]);
  const { count } = await store
    .selectFrom('discovered_machines')
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  // The five that were seen first, all of one moment, have gone.
  expect(Number(count)).toBe(9_996);
});
