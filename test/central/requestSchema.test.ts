import Type from 'typebox';
import { expect, test } from 'vitest';
import { requestSchema } from '#central/api/requestSchema.ts';

test('what has a default need not be sent, at any depth', () => {
  const inner = Type.Object({ must: Type.String(), may: Type.Integer({ default: 1 }) });
  const schema = Type.Object({
    limit: Type.Integer({ default: 50 }),
    list: Type.Array(inner),
    id: Type.String(),
  });
  expect(requestSchema(schema)).toMatchObject({
    required: ['list', 'id'],
    properties: { list: { items: { required: ['must'] } } },
  });
  expect(schema.required).toContain('limit');
});
