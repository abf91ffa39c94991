import { afterAll, beforeAll, expect, test } from 'vitest';
import { newSite, startTestCentre, type TestCentre } from './centre.ts';
import { type AgentClient, agentClient, joinAs } from './fakeSite.ts';

let centre: TestCentre;
let site: AgentClient;
beforeAll(async () => {
  centre = await startTestCentre();
  const { siteId, joinToken } = await newSite(centre.directory, 'lab');
  const { agentsUrl } = centre.central;
  const { wellKnown, ...credentials } = await joinAs(agentsUrl, 'site', siteId, joinToken);
  site = agentClient(agentsUrl, wellKnown.servingCa, credentials);
});
afterAll(async () => {
  await site.close();
  await centre.close();
});

test.each(['/v1/join', '/v1/renew', '/v1/agent/poll', '/v1/agent/report', '/v1/agent/secrets'])(
  'a message of another protocol version is refused by that name at %s, whatever else is new in it',
  async (path) => {
    for (const protocol of [2, 0, -1])
      expect(await site.post(path, { protocol, fieldsOfThatVersion: [] })).toMatchObject({
        status: 422,
        body: {
          error: { code: 'UNSUPPORTED', details: { reason: 'protocol', expected: 1, found: protocol } },
        },
      });
  },
);

test('a version that is none is a message that is none', async () => {
  expect(await site.post('/v1/agent/poll', { protocol: 'two' })).toMatchObject({
    status: 400,
    body: { error: { code: 'INVALID_INPUT', details: { path: 'protocol' } } },
  });
});
