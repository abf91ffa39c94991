import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Scope } from '#central/api/grants.ts';
import type { Method } from '#central/api/method.ts';
import { groups } from '#central/groups/index.ts';
import { validate } from '#contract/validate.ts';
import { apiClient } from '../centre.ts';
import { examples } from './examples.ts';
import { grantable, makeWorld, mintAll, ofAcme, type World } from './world.ts';

/** Who may call is tried for every method of every group: the table is the API's own. */
const methods = Object.entries(groups).flatMap(([group, members]) =>
  Object.entries(members).map(([name, method]) => ({ name: `${group}.${name}`, method })),
);
const actions = [...new Set(methods.map(({ method }) => method.action))];

let world: World;
let tokens: Record<string, string>;

beforeAll(async () => {
  world = await makeWorld();
  const everything = ['compute:*@compute-fleet:*'];
  const kinds = ['compute-tenant', 'compute-image', 'compute-node', 'compute-workflow'];
  const allBut = (action: string) =>
    actions.filter((other) => other !== action).map((other) => `${other}@compute-fleet:*`);
  tokens = await mintAll(world, {
    expired: everything,
    revoked: everything,
    other: ['compute:*@compute-tenant:other'],
    ...Object.fromEntries(actions.map((action) => [`all but ${action}`, allBut(action)])),
    ...Object.fromEntries(
      actions.flatMap((action) => [
        ...['fleet', 'acme'].map((id) => [
          `${action} @ ${id}`,
          [`${action}@${id === 'fleet' ? 'compute-fleet' : 'compute-tenant'}:${id}`],
        ]),
        [`${action} elsewhere`, kinds.map((kind) => `${action}@${kind}:elsewhere`)],
      ]),
    ),
  });
});
afterAll(() => world.centre.close());

test('every method has an example, and every example is of a method', () => {
  expect(Object.keys(examples).sort()).toEqual(methods.map(({ name }) => name).sort());
});

describe.each(methods)('$name', ({ name, method }) => {
  const as = (token: string | undefined, change: object = {}) =>
    apiClient(world.centre.central.apiUrl, token)(name, { ...examples[name]?.(world), ...change });

  test('a stranger is told nothing, not even what is wrong with the call', async () => {
    const reasons = { missing: undefined, unknown: `rht_${'x'.repeat(43)}` };
    for (const [reason, token] of [
      ...Object.entries(reasons),
      ['expired', tokens.expired],
      ['revoked', tokens.revoked],
    ] as const)
      for (const change of [{}, { nonsense: 1 }])
        expect(await as(token, change)).toMatchObject({
          status: 401,
          error: { code: 'UNAUTHENTICATED', details: { reason } },
        });
  });

  test("another tenant's token does not reach in", async () => {
    const plainly = await as(tokens.other);
    if (plainly.status !== 403) expect(method.kind).toBe('read');
    expect(JSON.stringify(plainly.data ?? {})).not.toMatch(ofAcme(world));
    if (!takesTenant(method)) return;
    const inItsOwnName = await as(tokens.other, { tenantId: 'other' });
    expect(inItsOwnName.status).not.toBe(401);
    expect(JSON.stringify(inItsOwnName.data ?? {})).not.toMatch(ofAcme(world));
    if (namesThing(name)) expect([403, 404]).toContain(inItsOwnName.status);
  });

  test('every other action together is not enough', async () => {
    expect(await as(tokens[`all but ${method.action}`])).toMatchObject({
      status: 403,
      error: { code: 'FORBIDDEN', details: { action: method.action } },
    });
  });

  test('the action on something else is not enough', async () => {
    const answer = await as(tokens[`${method.action} elsewhere`]);
    if (method.items === undefined) expect(answer.status).toBe(403);
    else expect(answer).toMatchObject({ status: 200, data: { items: [] } });
  });

  test('the action on the thing, its tenant or the fleet is enough', async () => {
    const input = validate(method.input, examples[name]?.(world));
    for (const scope of method.scopes(input)) {
      const { status, error } = await as(await tokenOn(method.action, scope));
      expect([status, error?.code]).not.toEqual([403, 'FORBIDDEN']);
      expect(status).not.toBe(401);
      expect(status).toBeLessThan(500);
    }
  });

  test('what is wrong with a call is told to whoever is let in', async () => {
    expect(await as(tokens[`${method.action} @ fleet`], { nonsense: 1 })).toMatchObject({
      status: 400,
      error: { code: 'INVALID_INPUT', details: { path: 'nonsense' } },
    });
  });

  test('a list shows single things to whoever is granted no more', async () => {
    if (method.items === undefined) return;
    const id = grantable(world)[method.items];
    const { status, data } = await as(await tokenOn(method.action, { kind: method.items, id }));
    expect(status).toBe(200);
    const { items } = data as { items: object[] };
    expect(items).toHaveLength(1);
    expect(JSON.stringify(items)).toContain(id);
  });
});

test('a list shows every thing to whoever is granted each of its kind', async () => {
  const { one } = await mintAll(world, { one: ['compute:nodes:read@compute-node:*'] });
  const { status, data } = await apiClient(world.centre.central.apiUrl, one)('nodes.list', {
    tenantId: 'acme',
  });
  expect(status).toBe(200);
  expect(JSON.stringify(data)).toContain(world.nodeId);
});

test('every mutation that was tried is on record, refused or not', async () => {
  const records = await allRecords();
  for (const { name, method } of methods) {
    const outcomes = records.filter((record) => record.method === name).map((record) => record.outcome);
    if (method.kind === 'read') expect(outcomes).toEqual([]);
    else expect(outcomes).toEqual(expect.arrayContaining(['FORBIDDEN', 'INVALID_INPUT']));
  }
  expect(records.filter(({ outcome }) => outcome === 'begun')).toEqual([]);
});

async function allRecords(): Promise<{ method: string; outcome: string }[]> {
  type Records = { items: { method: string; outcome: string }[]; cursor?: string };
  const records: Records['items'] = [];
  let more: object = {};
  for (;;) {
    const { data } = await world.centre.call<Records>('audit.list', { limit: 200, ...more });
    records.push(...data.items);
    if (data.cursor === undefined) return records;
    more = { cursor: data.cursor };
  }
}

function takesTenant(method: Method): boolean {
  return 'tenantId' in ((method.input as { properties?: object }).properties ?? {});
}

function namesThing(name: string): boolean {
  return ofAcme(world).test(JSON.stringify(examples[name]?.(world)));
}

async function tokenOn(action: string, { kind, id }: Scope): Promise<string | undefined> {
  const grant = `${action}@${kind}:${id}`;
  const minted = { 'compute-fleet': 'fleet', 'compute-tenant': 'acme' }[kind as string];
  if (minted !== undefined) return tokens[`${action} @ ${minted}`];
  return (await mintAll(world, { one: [grant] })).one;
}
