import { appendFile, chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import type { Login, NextLogin } from '#base/logins.ts';
import { userCount, userName } from '#ipmi/account/findUser.ts';
import { IpmiBmc } from '#ipmi/bmc.ts';
import type { BootMemory } from '#ipmi/memory.ts';
import { steppingClock } from '../fakes/clocks.ts';
import { faultyTool, type Rule } from '../fakes/faultyTool.ts';
import { type IpmiSim, startIpmiSim } from '../fakes/ipmiSim.ts';

const fresh = { username: 'admin', password: 'Fresh-Marker-234' };
const suites = { find: () => 3, keep: () => {} };

describe('against a real BMC’s software', () => {
  let sim: IpmiSim;
  let watched: string;
  /** The password that it has now: one test after the other gives it another one. */
  let current: Login;

  beforeAll(async () => {
    sim = await startIpmiSim();
    current = { username: sim.username, password: sim.password };
    watched = await watching(sim.ipmitool);
  });
  afterAll(() => sim.stop());

  function open(
    login: Login,
    more: { next?: NextLogin; memory?: BootMemory; program?: string } = {},
  ): IpmiBmc {
    const { memory = {}, program = sim.ipmitool, next } = more;
    const common = { address: sim.address, ...login, ...(next && { next }), program, ciphers: suites };
    return new IpmiBmc({
      ...common,
      firmware: () => 'uefi',
      memory,
      log: silentLog(),
      clock: steppingClock(),
    });
  }

  test('the user’s password is changed, proven, and used from then on; no process shows it', async () => {
    const bmc = open(current, { program: watched });
    expect(await bmc.readAccount()).toEqual({ username: 'admin', works: 'current', maxLength: 16 });
    await bmc.setPassword(fresh);
    expect(await bmc.setPower('on')).toBe('on');
    await expect(open(current).getPower()).rejects.toMatchObject({
      details: { reason: 'credentials-refused' },
    });
    current = fresh;
    const seen = (await readFile(`${watched}.seen`, 'latin1')).replaceAll('\0', ' ');
    expect(seen).toContain('exec');
    for (const { password } of [fresh, { password: sim.password }])
      for (const form of [password, bytesOf(password), Buffer.from(password).toString('hex')])
        expect(seen.includes(form)).toBe(false);
  });

  test('while two may be right, the other one is tried when the first is refused, and remembered', async () => {
    const memory: BootMemory = {};
    const stale = { username: 'admin', password: 'Stale-one' };
    const next = { ...current, id: 'sec_next' };
    expect(await open(stale, { next, memory }).readAccount()).toMatchObject({ works: 'next' });
    expect(memory.login).toBe('sec_next');
    const before = (await sim.commands()).length;
    expect(await open(stale, { next, memory }).getPower()).toMatch(/on|off/);
    expect((await sim.commands()).length).toBe(before + 1);
    expect((await open(stale, { next }).inspect()).bmc?.model).toContain('Supermicro');
    expect(await open(current, { next: { ...stale, id: 'sec_other' }, memory }).readAccount()).toMatchObject({
      works: 'current',
    });
  });

  test('what was done before a crash is found done', async () => {
    const stale = { username: 'admin', password: 'Stale-one' };
    const before = (await sim.commands()).length;
    await open(stale, { next: { ...current, id: 'sec_next' } }).setPassword(current);
    const commands = (await sim.commands()).slice(before);
    expect(commands.filter((command) => command.startsWith('exec'))).toEqual([]);
  });

  test('another user than the one whose password it is to be is sent nothing', async () => {
    const before = (await sim.commands()).length;
    await expect(open(current).setPassword({ ...fresh, username: 'root' })).rejects.toMatchObject({
      details: { reason: 'another-user', works: 'current' },
    });
    const commands = (await sim.commands()).slice(before);
    expect(commands.filter((command) => command.startsWith('exec'))).toEqual([]);
  });

  test('a longer password than every IPMI takes is not sent', async () => {
    await expect(open(current).setPassword({ ...fresh, password: 'x'.repeat(17) })).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      details: { reason: 'password-length' },
    });
  });
});

/** A program that notes what /proc shows of the tool while it runs, and of every process above it. */
async function watching(tool: string): Promise<string> {
  const program = path.join(path.dirname(tool), 'watched');
  await writeFile(`${program}.seen`, '');
  await writeFile(
    program,
    `#!/bin/sh
exec 5>>${program}.seen
${tool} "$@" &
child=$!
for n in 1 2 3 4 5; do
  cat /proc/[0-9]*/cmdline /proc/$child/environ /proc/$$/environ >&5 2>/dev/null
  sleep 0.01
done
wait $child
`,
  );
  await chmod(program, 0o755);
  await appendFile(`${program}.seen`, '');
  return program;
}

function bytesOf(text: string): string {
  return [...Buffer.from(text)].map((byte) => `0x${byte.toString(16)}`).join(' ');
}

describe('faults', () => {
  const old = { username: 'admin', password: 'old-one' };
  const pw = 'p=$(cat /proc/self/fd/3)';
  /** A BMC that keeps its password in a file beside the tool; `stores` says what it does with a new one. */
  async function setUp(stores: string, more: readonly Rule[] = []) {
    const state = `$(dirname "$0")/password`;
    const check = `${pw}; [ "$p" = "$(cat ${state} 2>/dev/null || echo old-one)" ] || { echo "> RAKP 2 HMAC is invalid" >&2; echo "Error: Unable to establish IPMI v2 / RMCP+ session" >&2; exit 1; }`;
    const tool = await faultyTool([
      ...more,
      { when: '*', does: check, times: 1_000_000 },
      { when: "*'raw 0x06 0x01'", does: 'echo " 00 03 09 08 02 9f 7c 2a 00 02 0f"; exit 0' },
      { when: "*'raw 0x06 0x44 '*", does: 'echo " 04 02 01 14"; exit 0' },
      {
        when: "*'raw 0x06 0x46 0x02'",
        does: 'echo "Unable to send RAW command (rsp=0xcc): Invalid data field in request" >&2; exit 1',
      },
      {
        when: "*'raw 0x06 0x46 0x03'",
        does: 'echo " 61 64 6d 69 6e 00 00 00 00 00 00 00 00 00 00 00"; exit 0',
      },
      { when: "*'exec '*", does: stores.replaceAll('STATE', state) },
    ]);
    const common = { address: 'ipmi://192.0.2.7', ...old, program: tool.program, ciphers: suites };
    const bmc = new IpmiBmc({
      ...common,
      firmware: () => 'uefi',
      memory: {},
      log: silentLog(),
      clock: steppingClock(),
    });
    return { bmc, commands: tool.commands };
  }
  const store = `echo '${fresh.password}' >STATE`;

  test.each([
    ['it is stored', `${store}; exit 0`],
    ['the answer is lost', `${store}; echo "Error: no response" >&2; exit 1`],
    ['it says no and stores it', `${store}; echo "rsp=0xcc" >&2; exit 1`],
  ])('%s: found out by a new session', async (_name, stores) => {
    const { bmc } = await setUp(stores);
    await bmc.setPassword(fresh);
    expect((await bmc.readAccount()).username).toBe('admin');
  });

  test.each([
    ['nothing is stored', 'exit 0', { reason: 'not-stored' }],
    [
      'its rules refuse it',
      'echo "Unable to send RAW command (channel=0x0 netfn=0x6 lun=0x0 cmd=0x47 rsp=0xcc): Invalid data" >&2; exit 1',
      { reason: 'password-refused', works: 'current', completionCode: 0xcc },
    ],
    [
      'neither is taken',
      'echo nobody-knows >STATE; exit 0',
      { reason: 'password-unknown', works: 'unknown' },
    ],
  ])('%s', async (_name, stores, details) => {
    const { bmc } = await setUp(stores);
    const error = await bmc.setPassword(fresh).catch((thrown: unknown) => thrown as Error);
    expect(error).toMatchObject({ code: 'DRIVER_ERROR', details });
    const told = `${(error as Error).stack} ${JSON.stringify(error)}`;
    for (const form of [fresh.password, bytesOf(fresh.password), old.password])
      expect(told).not.toContain(form);
  });

  test('a BMC without a user of that name is sent nothing', async () => {
    const none = { when: "*'raw 0x06 0x46 0x03'", does: 'echo " 00 00 00 00"; exit 0' };
    const { bmc, commands } = await setUp('exit 0', [none]);
    await expect(bmc.setPassword(fresh)).rejects.toMatchObject({ details: { reason: 'no-account' } });
    expect((await commands()).some((command) => command.startsWith('exec'))).toBe(false);
  });
});

test.each([
  [[0x3f, 0x02, 0x01], 63],
  [[0xca], 10],
  [[0x40], 16],
  [[], 16],
])('of Get User Access %j there are %i users', (bytes, count) => {
  expect(userCount(Buffer.from(bytes))).toBe(count);
});

test('a user’s name ends with its first zero, or after 16 bytes', () => {
  expect(userName(Buffer.from('admin\0\0x'))).toBe('admin');
  expect(userName(Buffer.from('abcdefghijklmnopqrst'))).toBe('abcdefghijklmnop');
  expect(userName(Buffer.alloc(0))).toBe('');
});
