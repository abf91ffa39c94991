import { beforeEach, describe, expect, test } from 'vitest';
import { Sessions } from '#rack/bmc/sessions.ts';
import { type Answer, answer, type FakeBmc, fakeBmc, messageId } from '../fakes/bmc.ts';

const list = '/redfish/v1/SessionService/Sessions';
const system = '/redfish/v1/Systems/1';
let bmc: FakeBmc;

beforeEach(() => {
  bmc = fakeBmc();
});

async function login(password = bmc.record.bmc.password): Promise<Answer> {
  const payload = { UserName: bmc.record.bmc.username, Password: password };
  return answer(await bmc.app.inject({ method: 'POST', url: list, payload }));
}

async function get(headers: Record<string, string>, url = system): Promise<number> {
  return (await bmc.app.inject({ method: 'GET', url, headers })).statusCode;
}

test('without a login only the service root and the versions can be read', async () => {
  expect(await get({}, '/redfish')).toBe(200);
  expect(await get({}, '/redfish/v1')).toBe(200);
  expect(await get({}, '/redfish/v1/')).toBe(200);
  const refused = answer(await bmc.app.inject({ method: 'GET', url: system }));
  expect([refused.status, messageId(refused)]).toEqual([401, 'Base.1.18.NoValidSession']);
  expect(refused.headers['www-authenticate']).toContain('Basic');
});

test.each(['Basic', 'Basic !!!', `Basic ${Buffer.from('admin:wrong').toString('base64')}`, 'Bearer x'])(
  '%s is refused',
  async (authorization) => {
    expect(await get({ authorization })).toBe(401);
  },
);

test('a session’s token opens the BMC until the session is deleted', async () => {
  const { status, headers, body } = await login();
  expect(status).toBe(201);
  const auth = { 'x-auth-token': String(headers['x-auth-token']) };
  expect(headers.location).toBe(body['@odata.id']);
  expect(await get(auth)).toBe(200);
  const gone = await bmc.app.inject({ method: 'DELETE', url: String(headers.location), headers: auth });
  expect([gone.statusCode, gone.body]).toEqual([204, '']);
  expect(await get(auth)).toBe(401);
});

test('a wrong password makes no session', async () => {
  const refused = await login('wrong');
  expect([refused.status, messageId(refused)]).toEqual([401, 'Base.1.18.AccessDenied']);
  expect((await bmc.ask('GET', list)).body.Members).toEqual([]);
});

test('a session more than the limit is refused, and Basic still works', async () => {
  for (let count = 0; count < Sessions.limit; count++) expect((await login()).status).toBe(201);
  const refused = await login();
  expect([refused.status, messageId(refused)]).toEqual([503, 'Base.1.18.SessionLimitExceeded']);
  expect((await bmc.ask('GET', system)).status).toBe(200);
});

describe('time-out', () => {
  const minutes = (count: number) => count * 60_000;

  test('a session that is not used for 30 minutes ends', () => {
    const sessions = new Sessions();
    const token = sessions.open('admin', 0)?.token ?? '';
    expect(sessions.byToken(token, minutes(29))).toBeDefined();
    expect(sessions.byToken(token, minutes(58))).toBeDefined();
    expect(sessions.byToken(token, minutes(89))).toBeUndefined();
  });

  test('a session that has ended makes room', () => {
    const sessions = new Sessions();
    for (let count = 0; count < Sessions.limit; count++) sessions.open('admin', 0);
    expect(sessions.open('admin', minutes(1))).toBeUndefined();
    expect(sessions.open('admin', minutes(31))).toBeDefined();
  });
});
