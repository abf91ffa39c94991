import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { Log } from '#base/log.ts';
import { bmcError, type Fault } from '../fakes/fakeBmc.ts';
import { always, atFirst, startBench, user } from './bmcBench.ts';

const sessions = '/SessionService/Sessions';
const systemPath = '/redfish/v1/Systems/1';

test('one session serves all requests and is ended at the close', async () => {
  const { fake, bmc } = await startBench();
  await Promise.all([bmc.getPower(), bmc.getPower(), bmc.getPower()]);
  await bmc.setPower('on');
  expect(fake.sent('POST', sessions).length).toBe(1);
  expect(fake.sessions.size).toBe(1);
  expect(fake.requests.every((one) => one.headers.authorization === undefined)).toBe(true);
  await bmc.close();
  expect(fake.sessions.size).toBe(0);
});

test('a session that expired is replaced once, also when several requests find out together', async () => {
  const { fake, bmc } = await startBench();
  await bmc.getPower();
  fake.sessions.clear();
  await Promise.all([bmc.getPower(), bmc.getPower(), bmc.getPower()]);
  expect(fake.sent('POST', sessions).length).toBe(2);
  expect(fake.sessions.size).toBe(1);
});

test('R9: fifty operations with faults never hold more than one session, and none at the end', async () => {
  const faults: Fault[] = [
    (request) => {
      if (request.path.includes('Session') || request.path.endsWith('/v1/')) return undefined;
      const dice = Math.random();
      if (dice < 0.05) return { status: 401 };
      if (dice < 0.1) return { status: 503 };
      return dice < 0.15 ? 'hang up' : undefined;
    },
  ];
  const { fake, bmc } = await startBench({}, faults);
  fake.sessionLimit = 2;
  for (let n = 0; n < 50; n++) await bmc[n % 2 === 0 ? 'getPower' : 'inspect']().catch(() => {});
  expect(fake.mostSessions).toBe(1);
  expect(fake.sessions.size).toBeLessThanOrEqual(1);
  fake.faults.length = 0;
  await bmc.close();
  expect(fake.sessions.size).toBe(0);
});

describe('Basic is used', () => {
  test('R9: when all sessions are taken (iDRAC RAC0218)', async () => {
    const { fake, bmc } = await startBench();
    fake.sessionLimit = 0;
    expect(await bmc.getPower()).toBe('off');
    expect(fake.sent('POST', sessions).length).toBe(1);
    expect(fake.requests.at(-1)?.headers.authorization).toMatch(/^Basic /);
  });

  test('when the BMC has no session service (sushy-tools)', async () => {
    const { fake, bmc } = await startBench();
    fake.tree['/redfish/v1'] = { Systems: { '@odata.id': '/redfish/v1/Systems' } };
    expect(await bmc.getPower()).toBe('off');
    expect(fake.sent('POST', sessions)).toEqual([]);
  });

  test('R18: when the BMC names no session that could be ended; only one leaks', async () => {
    const nameless = { status: 201, headers: { 'x-auth-token': 't' }, body: {} };
    const { fake, bmc } = await startBench({}, [always('POST', sessions, nameless)]);
    expect(await bmc.getPower()).toBe('off');
    await bmc.getPower();
    expect(fake.sent('POST', sessions).length).toBe(1);
  });
});

test.each([
  ['in the body only', (id: string) => ({ body: { '@odata.id': `/redfish/v1${sessions}/${id}` } })],
  [
    'by an absolute URL',
    (id: string) => ({ headers: { location: `https://bmc.example/redfish/v1${sessions}/${id}` } }),
  ],
])('R18: a session that is named %s is ended at the close', async (_name, naming) => {
  const login: Fault = (request, fake) => {
    if (request.method !== 'POST' || !request.path.endsWith(sessions)) return undefined;
    fake.sessions.add('9');
    const { headers = {}, body = {} } = naming('9') as {
      headers?: Record<string, string>;
      body?: Record<string, string>;
    };
    return { status: 200, headers: { 'x-auth-token': 'token-9', ...headers }, body };
  };
  const { fake, bmc } = await startBench({}, [login]);
  expect(await bmc.getPower()).toBe('off');
  expect(fake.sessions.size).toBe(1);
  await bmc.close();
  expect(fake.sessions.size).toBe(0);
});

describe('refused credentials', () => {
  test('R23: one 401 to good credentials is borne', async () => {
    const { bmc } = await startBench({}, [atFirst('POST', sessions, { status: 401 })]);
    expect(await bmc.getPower()).toBe('off');
    const later = await startBench({}, [atFirst('GET', systemPath, { status: 401 })]);
    expect(await later.bmc.getPower()).toBe('off');
  });

  test('two in a row end it, and nothing is sent for a while, lest the account be locked', async () => {
    const { fake, bmc, clock } = await startBench({}, [], { password: 'wrong' });
    const refused = { code: 'DRIVER_ERROR', details: { reason: 'credentials-refused' } };
    await expect(bmc.getPower()).rejects.toMatchObject(refused);
    const sent = fake.requests.length;
    expect(fake.sent('POST', sessions).length).toBe(2);
    await expect(bmc.getPower()).rejects.toMatchObject(refused);
    expect(fake.requests.length).toBe(sent);
    await clock.sleep(300_000);
    await expect(bmc.getPower()).rejects.toMatchObject(refused);
    expect(fake.sent('POST', sessions).length).toBe(4);
  });

  test('Basic that is refused is not hammered either', async () => {
    const { fake, bmc } = await startBench({}, [], { password: 'wrong' });
    fake.tree['/redfish/v1'] = { Systems: { '@odata.id': '/redfish/v1/Systems' } };
    await expect(bmc.getPower()).rejects.toMatchObject({ details: { reason: 'credentials-refused' } });
    const shown = () => fake.requests.filter((one) => one.headers.authorization !== undefined).length;
    expect(shown()).toBe(2);
    await expect(bmc.getPower()).rejects.toMatchObject({ details: { reason: 'credentials-refused' } });
    expect(shown()).toBe(2);
  });

  test('a 401 to a new session is about the resource, not about the password', async () => {
    const { fake, bmc } = await startBench({}, [always('POST', 'ComputerSystem.Reset', { status: 401 })]);
    await expect(bmc.setPower('on')).rejects.toMatchObject({
      message: expect.stringContaining('has its user the privilege?'),
      details: { reason: 'refused', status: 401 },
    });
    expect(await bmc.getPower()).toBe('off');
    expect(fake.sessions.size).toBe(1);
  });
});

test('password and token are in no log line', async () => {
  const lines = new PassThrough();
  let text = '';
  lines.on('data', (chunk) => {
    text += chunk;
  });
  const log = pino({ level: 'debug' }, lines) as unknown as Log;
  const { bmc, fake } = await startBench({}, [atFirst('POST', sessions, bmcError(503, 'x', user.password))], {
    log,
  });
  await bmc.getPower();
  await bmc.setPower('on');
  await bmc.close();
  expect(fake.requests.length).toBeGreaterThan(3);
  expect(text).toContain('Basic authentication is used');
  expect(text).not.toContain(user.password);
  expect(text).not.toContain(Buffer.from(`${user.username}:${user.password}`).toString('base64'));
});
