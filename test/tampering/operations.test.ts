import { generateKeyPairSync } from 'node:crypto';
import Type from 'typebox';
import { expect, test } from 'vitest';
import { signDocument } from '#base/jws.ts';
import { isActionOf, Operation, type OperationAction, operations } from '#contract/operations.ts';
import { verifyOperation } from '#ramdisk/operations/verify.ts';
import { changed, fieldsOf, otherThan, withPayload } from './fields.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const expected = {
  target: 'ramdisk',
  signingKeys: [publicKey],
  nodeId: 'node_1',
  machine: 'keys',
  operationId: 'op_1',
} as const;
const { jws: _, ...orderedFields } = Operation.properties;

const cases = (Object.keys(operations) as OperationAction[])
  .filter((action) => isActionOf('ramdisk', action))
  .map((action) => {
    const { input } = operations[action];
    const schema = Type.Object({ ...orderedFields, input });
    return { action, schema, sample: otherThan(undefined, input) as Record<string, unknown> };
  });

const ordered = (action: string, input: Record<string, unknown>) => ({
  ...{ operationId: 'op_1', nodeId: 'node_1', machine: 'keys', target: 'ramdisk', action, input },
  expiresAt: '2100-01-01T00:00:00.000Z',
});

test.each(cases)('$action is believed as the centre signed it', async ({ action, sample }) => {
  const jws = await signDocument('railhead-operation', ordered(action, sample), privateKey);
  expect(await verifyOperation(jws, expected)).toMatchObject({ action, input: sample });
});

test.each(
  cases.flatMap(({ action, schema, sample }) =>
    fieldsOf(schema).map((field) => ({ action, field, schema, sample })),
  ),
)('$action with another $field is refused', async ({ action, field, schema, sample }) => {
  const jws = await signDocument('railhead-operation', ordered(action, sample), privateKey);
  const altered = withPayload(jws, (document) => changed(document, field, schema));
  await expect(verifyOperation(altered, expected)).rejects.toMatchObject({
    code: 'FORBIDDEN',
    details: { reason: 'signature' },
  });
});

test.each([
  ['node', { nodeId: 'node_2' }],
  ['machine', { machine: 'keys of an earlier boot' }],
  ['target', { target: 'site' }],
  ['operation-id', { operationId: 'op_2' }],
  ['expiry', { expiresAt: 'soon' }],
])(
  'an operation that the centre signed for something else is refused by its name: %s',
  async (reason, other) => {
    const document = { ...ordered('boot.kexec', {}), ...other };
    const jws = await signDocument('railhead-operation', document, privateKey);
    await expect(verifyOperation(jws, expected)).rejects.toMatchObject({
      code: 'FORBIDDEN',
      details: { reason },
    });
  },
);

test.each(['railhead-boot-entry', 'railhead-result', 'railhead-user-data'])(
  'a %s of the centre passes for no operation',
  async (typ) => {
    const jws = await signDocument(typ, ordered('boot.kexec', {}), privateKey);
    await expect(verifyOperation(jws, expected)).rejects.toMatchObject({ details: { reason: 'signature' } });
  },
);
