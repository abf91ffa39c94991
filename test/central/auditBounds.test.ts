import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Call, startTestCentre, type TestCentre } from './centre.ts';

let centre: TestCentre;
let nobody: Call;
let guest: Call;
const refusals = { perSecond: 0.1, burst: 6 };

beforeAll(async () => {
  centre = await startTestCentre({ rates: { refusals } });
  for (const tenantId of ['acme', 'beta']) await centre.call('tenants.create', { tenantId });
  nobody = await centre.tokenFor('compute:nothing:read@compute-tenant:beta');
  guest = await centre.tokenFor('compute:secrets:manage@compute-tenant:beta');
});
afterAll(() => centre.close());

interface AuditRecord {
  method: string;
  outcome: string;
  scope: string;
  tenantId?: string;
  subject: Record<string, string>;
}

async function records(query: object): Promise<AuditRecord[]> {
  return (await centre.call<{ items: AuditRecord[] }>('audit.list', { limit: 200, ...query })).data.items;
}

/** As many names as a body can hold. */
const flood = Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`x${at}Id`, 'y'.repeat(256)]));

test('whoever is granted nothing of the kind leaves a small record, and learns nothing of the call', async () => {
  const since = new Date().toISOString();
  expect(await nobody('sites.create', { tenantId: 'acme', ...flood })).toMatchObject({
    status: 403,
    error: { code: 'FORBIDDEN' },
  });
  expect(await records({ since })).toMatchObject([{ outcome: 'FORBIDDEN', scope: '-', subject: {} }]);
});

test('what a record names are fields that the method has', async () => {
  const since = new Date().toISOString();
  const set = { tenantId: 'beta', ref: 'secret://x/y', text: 'a:b', ...flood };
  expect((await guest('secrets.set', set)).status).toBe(400);
  expect(await records({ since })).toMatchObject([
    { outcome: 'INVALID_INPUT', tenantId: 'beta', subject: { tenantId: 'beta', ref: 'secret://x/y' } },
  ]);
  expect(Buffer.byteLength(JSON.stringify(await records({ since })))).toBeLessThan(1000);
});

test('nobody writes into the records of a tenant that is not its own', async () => {
  const since = new Date().toISOString();
  const set = { tenantId: 'acme', ref: 'secret://x/y', text: 'a:b' };
  expect((await guest('secrets.set', set)).status).toBe(403);
  expect((await guest('secrets.set', { ...set, more: 1 })).status).toBe(400);
  expect(await records({ since, tenantId: 'acme' })).toEqual([]);
  expect(await records({ since })).toMatchObject([
    { outcome: 'FORBIDDEN', scope: 'compute-tenant:acme' },
    { outcome: 'INVALID_INPUT', scope: '-' },
  ]);
});

test('refusals of one token fill no books: it is held back, and others are not', async () => {
  const since = new Date().toISOString();
  const stranger = await centre.tokenFor('compute:nothing:read@compute-tenant:beta');
  const answers = [];
  for (let count = 0; count < 20; count++) answers.push(await stranger('sites.create', { name: 'north' }));
  expect(answers.map(({ status }) => status)).toEqual([...Array(6).fill(403), ...Array(14).fill(429)]);
  expect(answers.at(-1)?.error).toMatchObject({ code: 'RATE_LIMITED', details: { reason: 'token' } });
  expect(await records({ since })).toHaveLength(6);
  expect((await guest('secrets.set', { tenantId: 'beta', ref: 'secret://x/z', text: 'a:b' })).status).toBe(
    200,
  );
});

test('the longest page of records is small', async () => {
  const name = 'n'.repeat(128);
  const wide = { tenantId: 'beta', ref: `secret://bmc/${'r'.repeat(100)}`, text: 'x', name, ...flood };
  const fill = Array.from({ length: 200 }, () => guest('secrets.set', wide));
  await Promise.all(fill);
  const page = await records({ tenantId: 'beta' });
  expect(page.length).toBeGreaterThan(190);
  expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(200 * 1024);
}, 30_000);
