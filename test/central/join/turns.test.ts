import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signDocument } from '#base/jws.ts';
import { onHost } from '#central/host.ts';
import { createJoinToken } from '#central/join/joinTokens.ts';
import { publicJwk } from '#central/join/keys.ts';
import { revocationsNumber } from '#central/join/revocationList.ts';
import { addToList, revokeReleasedOs } from '#central/join/revoke.ts';
import { now, type Queries } from '#central/store/store.ts';
import { newSite, startTestCentre, type TestCentre } from '../centre.ts';
import { dialect } from '../directory.ts';
import { agentClient, joinMessage, newRequest, readWellKnown } from '../fakeSite.ts';

/** SQLite has one writer at a time: nothing can come between there. */
const onPostgres = test.runIf(dialect === 'postgres');

let centre: TestCentre;
beforeAll(async () => {
  centre = await startTestCentre();
});
afterAll(() => centre.close());

/** Until somebody waits for what this transaction holds. */
async function someoneWaits(queries: Queries): Promise<void> {
  const waiting = () => sql`SELECT pid FROM pg_locks WHERE NOT granted`.execute(queries);
  await expect.poll(async () => (await waiting()).rows.length).toBeGreaterThan(0);
}

onPostgres('a renewal that comes while its agent is being revoked gives it nothing', async () => {
  const nodeId = 'node-revoked-meanwhile';
  const { siteId } = await newSite(centre.directory, 'turns');
  const { data: pool } = await centre.call<{ poolId: string }>('pools.create', { tenantId: 'root', siteId });
  const { poolId } = pool;
  await centre.call('metal.enroll', {
    tenantId: 'root',
    siteId,
    poolId,
    nodeId,
    macs: ['52:54:00:aa:bb:01'],
  });
  const { token } = await onHost(centre.directory, ({ store }) =>
    createJoinToken(store, { role: 'node', nodeId, validMs: 60_000 }),
  );
  const wellKnown = await readWellKnown(centre.central.agentsUrl);
  const stranger = agentClient(centre.central.agentsUrl, wellKnown.servingCa);
  const { key, csr } = await newRequest();
  const joined = await stranger.post('/v1/join', await joinMessage(wellKnown, 'node', nodeId, token, csr));
  expect(joined.status).toBe(200);
  const renewal = {
    role: 'node',
    nodeId,
    counter: 1,
    nonce: 'while-it-is-revoked',
    at: now(),
    csr,
    sealingKey: publicJwk(generateKeyPairSync('x25519').privateKey),
    version: '0',
    signedBy: [],
  };
  const proof = await signDocument('railhead-renewal', renewal, createPrivateKey(key));
  const renewing = await onHost(centre.directory, ({ store }) =>
    store.transaction().execute(async (queries) => {
      await revokeReleasedOs(queries, nodeId, 'test');
      const answer = stranger.post('/v1/renew', { protocol: 1, proof });
      await someoneWaits(queries);
      return { answer };
    }),
  );
  expect(await renewing.answer).toMatchObject({
    status: 401,
    body: { error: { details: { reason: 'revoked' } } },
  });
  await stranger.close();
});

onPostgres(
  'of two revocations at once, whoever has taken the list after one is told of the other',
  async () => {
    const entry = (subject: string) => ({
      kind: 'certificate' as const,
      subject,
      identity: 'urn:railhead:site:x',
      why: 'stolen',
      revoked_by: 'host',
      at: now(),
      expires_at: null,
    });
    await onHost(centre.directory, async ({ store }) => {
      const later = await store.transaction().execute(async (queries) => {
        await addToList(queries, entry('aaaa'));
        const second = store.transaction().execute((others) => addToList(others, entry('bbbb')));
        await someoneWaits(queries);
        return { second };
      });
      const told = await revocationsNumber(store);
      await later.second;
      expect(await revocationsNumber(store)).toBeGreaterThanOrEqual(told);
      const { rows } = await sql<{
        subject: string;
      }>`SELECT subject FROM revocations ORDER BY number`.execute(store);
      expect(rows.slice(-2).map(({ subject }) => subject)).toEqual(['aaaa', 'bbbb']);
    });
  },
);
