import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import { redfishError } from '#rack/bmc/errors.ts';
import type { Fault } from '#rack/bmc/faultSwitches.ts';
import { accountPath, accountsPath } from '#rack/bmc/paths.ts';
import { loopbackCertificate, startSimulatedBmc } from '#rack/bmc/simulatedBmc.ts';
import { type BmcOptions, openBmc } from '#redfish/bmc.ts';
import type { BmcMemory } from '#redfish/memory.ts';
import { steppingClock } from '../fakes/clocks.ts';

const sessions = '/redfish/v1/SessionService/Sessions';
const factory = 'Factory-Marker-1';
const next = 'Next-Marker-2345';
const oem = (status: number, id: string, words: string) => ({
  status,
  body: { error: { code: id, message: words, '@Message.ExtendedInfo': [{ MessageId: id, Message: words }] } },
});
let tls: Awaited<ReturnType<typeof loopbackCertificate>>;
let directory: string;

beforeAll(async () => {
  tls = await loopbackCertificate();
  directory = await mkdtemp(path.join(tmpdir(), 'railhead-account-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function setUp(faults: readonly Fault[] = [], options: Partial<BmcOptions> = {}) {
  const fake = await startSimulatedBmc({ directory, tls, faults });
  fake.account.password = factory;
  const { username } = fake.account;
  const clock = steppingClock();
  const open = (more: Partial<BmcOptions> = {}) => {
    const common = { address: fake.address, username, password: factory, log: silentLog(), clock };
    const bmc = openBmc({ ...common, ...options, ...more });
    onTestFinished(() => bmc.close());
    return bmc;
  };
  onTestFinished(() => fake.close());
  const logins = () => fake.requests.filter(({ method, url }) => method === 'POST' && url === sessions);
  const both = { next: { username, password: next, id: 'sec_next' } };
  return { fake, bmc: open(), open, fresh: { username, password: next }, both, clock, logins };
}

const patched = { method: 'PATCH', path: accountPath } as const;

describe('the password of the account that we log in as is changed', () => {
  test('by the tag that it was read with, which may be demanded, and used from then on', async () => {
    const { fake, bmc, fresh } = await setUp();
    fake.account.demandsTag = true;
    await bmc.setPassword(fresh);
    expect(fake.account.password).toBe(next);
    expect(await bmc.setPower('on')).toBe('on');
    expect(fake.sessions.ids()).toHaveLength(1);
  });

  test('where the BMC does nothing before that, by the link in its message', async () => {
    const { fake, bmc, fresh } = await setUp(['factory-password']);
    await expect(bmc.getPower()).rejects.toMatchObject({
      code: 'DRIVER_ERROR',
      message: expect.stringContaining('rotate-bmc-password'),
      details: { reason: 'password-change-required' },
    });
    expect(await bmc.readAccount()).toEqual({ username: fresh.username, works: 'current' });
    await bmc.setPassword(fresh);
    expect(fake.requests.some(({ url }) => url === accountsPath)).toBe(false);
    expect(await bmc.getPower()).toBe('off');
  });

  test('where only its refusals say so, by the link in those', async () => {
    const { fake, bmc, fresh } = await setUp([
      'factory-password',
      { method: 'POST', path: sessions, merge: { '@Message.ExtendedInfo': null } },
    ]);
    await bmc.setPassword(fresh);
    expect(fake.account.password).toBe(next);
  });

  test('though the account may not be read before', async () => {
    const denied = redfishError(403, 'PasswordChangeRequired', { args: [accountPath] });
    const { fake, bmc, fresh } = await setUp([
      'factory-password',
      { method: 'GET', path: accountPath, ...denied },
    ]);
    await bmc.setPassword(fresh);
    expect(fake.account.password).toBe(next);
  });

  test('and not one that the message names and that is another user’s', async () => {
    const others: Fault = { method: 'GET', path: accountPath, merge: { UserName: 'root' } };
    const { fake, bmc, fresh } = await setUp(['factory-password', others]);
    await expect(bmc.setPassword(fresh)).rejects.toMatchObject({ details: { reason: 'no-account' } });
    expect(fake.account.changes).toBe(0);
  });

  test('where its accounts are under the manager, in fixed slots', async () => {
    const accounts = '/redfish/v1/Managers/iDRAC.Embedded.1/Accounts';
    const has = (at: string, body: object): Fault => ({ method: 'GET', path: at, status: 200, body });
    const { fake, bmc, fresh } = await setUp([
      {
        method: 'GET',
        path: '/redfish/v1/AccountService',
        merge: { Accounts: { '@odata.id': accounts } },
      },
      has(accounts, { Members: [`${accounts}/1`, accountPath].map((at) => ({ '@odata.id': at })) }),
      has(`${accounts}/1`, { UserName: '' }),
    ]);
    await bmc.setPassword(fresh);
    expect(fake.account.password).toBe(next);
  });

  test('where the others may not be read, and ours is on the second page', async () => {
    const [others, more] = [
      '/redfish/v1/AccountService/Accounts/9',
      '/redfish/v1/AccountService/Accounts/more',
    ];
    const page = (...links: string[]) => ({ Members: links.map((at) => ({ '@odata.id': at })) });
    const { fake, bmc, fresh } = await setUp([
      { method: 'GET', path: others, ...redfishError(403, 'AccessDenied', { args: [others] }) },
      { method: 'GET', path: accountsPath, merge: { ...page(others), 'Members@odata.nextLink': more } },
      { method: 'GET', path: more, status: 200, body: page(accountPath) },
    ]);
    await bmc.setPassword(fresh);
    expect(fake.account.password).toBe(next);
  });

  test('by Basic where there are no sessions', async () => {
    const { fake, bmc, fresh, logins } = await setUp([
      { method: 'GET', path: '/redfish/v1', merge: { Links: null, SessionService: null } },
    ]);
    await bmc.setPassword(fresh);
    expect(fake.account.password).toBe(next);
    expect(await bmc.getPower()).toBe('off');
    expect(logins()).toEqual([]);
  });

  test('once: what was done before a crash is found done', async () => {
    const { fake, open, fresh, both } = await setUp();
    fake.account.password = next;
    await open(both).setPassword(fresh);
    expect(fake.account.changes).toBe(0);
  });

  test('a session that ends with the password that it was opened by is followed by another one', async () => {
    const { fake, bmc, fresh } = await setUp();
    await bmc.getPower();
    const [before] = fake.sessions.ids();
    await bmc.setPassword(fresh);
    expect(await bmc.getPower()).toBe('off');
    expect(fake.sessions.ids()).not.toContain(before);
    expect(fake.sessions.most).toBe(1);
  });
});

describe('what became of it is found out by a new login', () => {
  test.each<[string, Fault]>([
    ['an answer that is cut off', { ...patched, cut: 'after' }],
    ['an answer that breaks in the middle', { ...patched, cut: 'middle' }],
    ['an error after it was stored', { ...patched, status: 500, acted: true }],
    ['a refusal after it was stored', { ...patched, status: 400, acted: true }],
  ])('%s', async (_name, fault) => {
    const { fake, bmc, fresh } = await setUp([fault]);
    await bmc.setPassword(fresh);
    expect(fake.account.password).toBe(next);
    expect(await bmc.getPower()).toBe('off');
  });

  const internal = oem(500, 'Base.1.4.0.InternalError', 'The request failed due to an internal error.');
  test.each<[string, Fault, object]>([
    ['a request that never arrives', { ...patched, cut: 'before' }, { reason: 'unreachable' }],
    ['204 and nothing stored', 'accept-but-ignore-password', { reason: 'not-stored' }],
    ['rules of the BMC', 'refuse-password', { reason: 'password-refused', works: 'current' }],
    [
      'rules that are told by 500',
      { ...patched, ...internal },
      { reason: 'password-refused', works: 'current' },
    ],
    ['a gateway inside that gives up', { ...patched, status: 504 }, { reason: 'refused' }],
  ])('%s: the password of before is used on', async (_name, fault, details) => {
    const { fake, bmc, fresh } = await setUp([fault]);
    await expect(bmc.setPassword(fresh)).rejects.toMatchObject({ code: 'DRIVER_ERROR', details });
    expect(fake.account.password).toBe(factory);
    expect(await bmc.setPower('on')).toBe('on');
  });

  test('by the login itself, whoever else reads meanwhile and opens a session by the password of before', async () => {
    const ends: Fault = { method: 'DELETE', path: `${sessions}/*`, delayMs: 30 };
    const { bmc, fresh, fake } = await setUp(['accept-but-ignore-password', ends]);
    let isOver = false;
    const change = bmc.setPassword(fresh).finally(() => {
      isOver = true;
    });
    const reads = (async () => {
      while (!isOver) await bmc.getPower();
    })();
    await expect(change).rejects.toMatchObject({ details: { reason: 'not-stored' } });
    await reads;
    expect(fake.account.password).toBe(factory);
  });

  test.each([403, 429, 404])(
    'and HTTP %i to Basic proves nothing: an account may be locked',
    async (status) => {
      const { fake, bmc, fresh } = await setUp();
      await bmc.getPower();
      fake.faults.set([
        'accept-but-ignore-password',
        { method: 'POST', path: sessions, status },
        { method: 'GET', path: '/redfish/v1/Systems', status },
      ]);
      await expect(bmc.setPassword(fresh)).rejects.toMatchObject({ code: 'DRIVER_ERROR' });
      expect(fake.account.password).toBe(factory);
    },
  );

  test('another user than the one whose password it is to be is sent nothing', async () => {
    const { fake, bmc } = await setUp();
    const other = { username: 'root', password: next };
    await expect(bmc.setPassword(other)).rejects.toMatchObject({
      details: { reason: 'another-user', works: 'current' },
    });
    expect(fake.requests.some(({ method }) => method === 'PATCH')).toBe(false);
  });

  test('a BMC that then takes neither is told of as such, and left alone', async () => {
    const { fake, bmc, fresh, logins } = await setUp([{ ...patched, cut: 'after' }]);
    const change = fake.account.change.bind(fake.account);
    fake.account.change = (password) => {
      change(password);
      fake.faults.set([{ method: 'POST', path: sessions, status: 401 }]);
    };
    await expect(bmc.setPassword(fresh)).rejects.toMatchObject({
      details: { reason: 'password-unknown', works: 'unknown' },
    });
    const tried = logins().length;
    await expect(bmc.getPower()).rejects.toMatchObject({ details: { reason: 'credentials-refused' } });
    expect(logins()).toHaveLength(tried);
  });

  test('one without an account of that name is sent nothing', async () => {
    const other: Fault = { method: 'GET', path: accountPath, merge: { UserName: 'root' } };
    const { fake, bmc, fresh } = await setUp([other]);
    await expect(bmc.setPassword(fresh)).rejects.toMatchObject({ details: { reason: 'no-account' } });
    expect(fake.requests.some(({ method }) => method === 'PATCH')).toBe(false);
  });

  test('neither password is in an error, though the BMC quotes both', async () => {
    const words = `${factory} is not ${next}`;
    const { bmc, fresh } = await setUp([{ ...patched, ...oem(400, 'Oem.1.0.Weak', words) }]);
    const error = await bmc.setPassword(fresh).catch((thrown: unknown) => thrown as Error);
    const told = `${(error as Error).stack} ${JSON.stringify(error)}`;
    expect(told).toContain('Weak');
    expect(told).not.toContain('Marker');
  });

  test('nor in that of a task', async () => {
    const at = '/redfish/v1/TaskService/Tasks/9';
    const Messages = [{ MessageId: 'Oem.1.0.Weak', Message: `${next} is weak` }];
    const { bmc, fresh } = await setUp([
      { ...patched, status: 202, body: { '@odata.id': at } },
      { method: 'GET', path: at, status: 200, body: { TaskState: 'Exception', Messages } },
    ]);
    const error = await bmc.setPassword(fresh).catch((thrown: unknown) => thrown as Error);
    expect((error as Error).message).toContain('Weak: *** is weak');
  });
});

describe('while two passwords may be right', () => {
  test.each([
    [factory, 1],
    [next, 2],
  ])('the one before is tried first, then the next one (%s)', async (password, tries) => {
    const { fake, open, both, logins } = await setUp();
    fake.account.password = password;
    expect(await open(both).getPower()).toBe('off');
    expect(logins()).toHaveLength(tries);
  });

  test('the one that worked is tried first by the next session, as long as it is the next one', async () => {
    const memory: BmcMemory = {};
    const { fake, open, both, logins } = await setUp();
    fake.account.password = next;
    await open({ ...both, memory }).readAccount();
    expect(memory.login).toBe('sec_next');
    const before = logins().length;
    expect(await open({ ...both, memory }).readAccount()).toMatchObject({ works: 'next' });
    expect(logins()).toHaveLength(before + 1);
    expect(await open({ password: next, memory }).readAccount()).toMatchObject({ works: 'current' });
    expect(memory.login).toBeUndefined();
  });

  test('three refusals are the end: no account is locked by us', async () => {
    const { fake, open, both, logins } = await setUp();
    fake.account.password = 'Somebody-else-1';
    const bmc = open(both);
    const refused = { details: { reason: 'credentials-refused' } };
    await expect(bmc.getPower()).rejects.toMatchObject(refused);
    await expect(bmc.getPower()).rejects.toMatchObject(refused);
    expect(logins()).toHaveLength(3);
  });

  test('by Basic as well', async () => {
    const noSessions: Fault = {
      method: 'GET',
      path: '/redfish/v1',
      merge: { Links: null, SessionService: null },
    };
    const { fake, open, both } = await setUp([noSessions]);
    fake.account.password = next;
    expect(await open(both).readAccount()).toMatchObject({ works: 'next' });
    fake.account.password = 'Somebody-else-1';
    await expect(open(both).getPower()).rejects.toMatchObject({
      details: { reason: 'credentials-refused' },
    });
  });
});

test('the account service tells how long a password may be; 0 is no bound', async () => {
  const { bmc, open, fake } = await setUp();
  expect(await bmc.readAccount()).toMatchObject({ works: 'current', minLength: 8, maxLength: 20 });
  const service = '/redfish/v1/AccountService';
  fake.faults.set([
    { method: 'GET', path: service, merge: { MinPasswordLength: 0, MaxPasswordLength: null } },
  ]);
  expect(await open().readAccount()).toEqual({ username: 'admin', works: 'current' });
});

test('an iDRAC that wants its default password changed (SWC1908) is told of as such', async () => {
  const words = 'Unable to complete the operation because the default password is still in use.';
  const { bmc } = await setUp([{ path: '*/Systems*', ...oem(403, 'IDRAC.2.9.SWC1908', words) }]);
  await expect(bmc.getPower()).rejects.toMatchObject({ details: { reason: 'password-change-required' } });
});
