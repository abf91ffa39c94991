import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '#redfish/json.ts';
import { masked } from '#redfish/relay.ts';
import { always, startBench } from './bmcBench.ts';

test('the secrets that a BMC tells are not handed on', async () => {
  const { fake, bmc } = await startBench();
  fake.tree['/redfish/v1/Managers/1/NetworkProtocol'] = {
    SNMP: { Port: 161, CommunityStrings: [{ CommunityString: 'site-community', AccessMode: 'Limited' }] },
    Oem: { Password: null, AuthenticationKey: 'Passphrase:abc' },
  };
  expect(await bmc.relay({ method: 'GET', path: '/redfish/v1/Managers/1/NetworkProtocol' })).toEqual({
    status: 200,
    body: {
      SNMP: { Port: 161, CommunityStrings: [{ CommunityString: '***', AccessMode: 'Limited' }] },
      Oem: { Password: null, AuthenticationKey: '***' },
    },
  });
});

test('a task tells neither what it was begun by nor by whose session', async () => {
  const { fake, bmc } = await startBench();
  const task = '/redfish/v1/TaskService/Tasks/1';
  const HttpHeaders = ['Content-Type: application/json', 'X-Auth-Token: abcdef'];
  const Payload = { HttpHeaders, JsonBody: '{"Password":"Marker-1"}', TargetUri: '/redfish/v1/x' };
  fake.tree[task] = { TaskState: 'Completed', Payload };
  expect(await bmc.relay({ method: 'GET', path: task })).toMatchObject({
    body: { Payload: { HttpHeaders: [HttpHeaders[0], '***'], JsonBody: '***' } },
  });
});

test.each([
  ['long', JSON.stringify({ Members: 'x'.repeat(200_000) })],
  ['deeply nested', '['.repeat(60_000) + ']'.repeat(60_000)],
])('an answer that is too %s comes without its body', async (_name, body) => {
  const { bmc } = await startBench({}, [always('GET', '/Much', { status: 200, body })]);
  expect(await bmc.relay({ method: 'GET', path: '/redfish/v1/Much' })).toEqual({
    status: 200,
    truncated: true,
  });
});

test('what has no secret is as it was', () => {
  const names = fc.string().filter((name) => !/password|string|secret|key|token|phrase/i.test(name));
  const { body } = fc.letrec((tie) => ({
    body: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(fc.constant(null), fc.boolean(), fc.integer(), fc.string()),
      fc.array(tie('body')),
      fc.dictionary(names, tie('body'), { noNullPrototype: true }),
    ),
  }));
  fc.assert(
    fc.property(body, (any) => {
      expect(masked(any as Json)).toEqual(any);
    }),
  );
});
