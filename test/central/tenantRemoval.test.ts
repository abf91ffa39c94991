import { afterAll, beforeAll, expect, test } from 'vitest';
import { onHost } from '#central/host.ts';
import { addImageSigner } from '#central/images/signers.ts';
import { type Call, newSigner, osImage, startTestCentre, type TestCentre } from './centre.ts';
import { sampleProfile } from './sampleProfile.ts';

let centre: TestCentre;
let call: Call;

beforeAll(async () => {
  centre = await startTestCentre();
  call = await centre.tokenFor('compute:*@compute-fleet:*');
});
afterAll(() => centre.close());

const made = async (tenantId: string) => {
  expect(await call('tenants.create', { tenantId })).toMatchObject({ status: 200 });
};
const removed = async (tenantId: string) => {
  expect(await call('tenants.delete', { tenantId })).toMatchObject({ status: 200 });
};

test('who makes a tenant of the same id again does not inherit its signers', async () => {
  const tenantId = 'signers';
  const signer = await newSigner(centre.directory, tenantId, 'old');
  await removed(tenantId);
  await made(tenantId);
  const signed = signer.signed(osImage({ tenantId }));
  const refusal = { status: 400, error: { details: { path: 'signature' } } };
  expect(await call('images.register', signed)).toMatchObject(refusal);
});

test('what a token of another owner may do in the tenant ends with it, and what else it may do stays', async () => {
  const tenantId = 'grants';
  await made(tenantId);
  const here = `compute:*@compute-tenant:${tenantId}`;
  const only = await centre.tokenFor(here);
  const also = await centre.tokenFor(here, 'compute:tenants:read@compute-tenant:root');
  expect(await only('tenants.get', { tenantId })).toMatchObject({ status: 200 });
  await removed(tenantId);
  await made(tenantId);
  expect(await only('tenants.get', { tenantId })).toMatchObject({ status: 401 });
  expect(await also('tenants.get', { tenantId })).toMatchObject({ status: 403 });
  expect(await also('tenants.get', { tenantId: 'root' })).toMatchObject({ status: 200 });
  expect(await call('tenants.get', { tenantId })).toMatchObject({ status: 200 });
});

test('a signer of a tenant that there is not is refused', async () => {
  const { publicKey } = await newSigner(centre.directory, 'root', 'another');
  const adding = onHost(centre.directory, ({ store }) =>
    addImageSigner(store, { tenantId: 'nobody', signerId: 'early', publicKey }),
  );
  await expect(adding).rejects.toMatchObject({ code: 'NOT_FOUND', details: { path: 'tenantId' } });
});

/** What makes something of a tenant. */
const makers: Record<string, (tenantId: string) => [method: string, input: object]> = {
  profiles: (tenantId) => ['profiles.create', { tenantId, document: sampleProfile }],
  images: (tenantId) => ['images.register', osImage({ tenantId })],
  tenant_secrets: (tenantId) => ['secrets.set', { tenantId, ref: 'secret://bmc/one', text: 'x' }],
};

test.each(Object.entries(makers))(
  'a tenant is never removed while something in %s is made of it',
  async (table, make) => {
    for (let turn = 0; turn < 8; turn++) {
      const tenantId = `race-${table.replace('_', '-')}-${turn}`;
      await made(tenantId);
      const [making, removing] = await Promise.all([
        call(...make(tenantId)),
        call('tenants.delete', { tenantId }),
      ]);
      const there = (await call('tenants.get', { tenantId })).status === 200;
      expect({ making: making.status, removing: removing.status, there }).toEqual(
        there ? { making: 200, removing: 409, there } : { making: 404, removing: 200, there },
      );
    }
  },
);
