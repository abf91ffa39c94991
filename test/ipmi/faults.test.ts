import { expect, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import { IpmiClient } from '#ipmi/client.ts';
import { steppingClock } from '../fakes/clocks.ts';
import type { Rule } from '../fakes/faultyTool.ts';
import { setUpTool } from './toolBench.ts';

const on = 'echo " 01 00 40"; exit 0';
const off = 'echo " 00 00 40"; exit 0';
const status = "*'raw 0x00 0x01'";
const noSession = 'echo "Error: Unable to establish IPMI v2 / RMCP+ session" >&2; exit 1';

const setUp = (rules: readonly Rule[], password?: string) =>
  setUpTool(rules, password === undefined ? {} : { password });

test('a BMC that does not answer to suite 17 at all is spoken to by suite 3', async () => {
  const { bmc, suites } = await setUp([
    { when: "*'-C 17 '*", does: noSession },
    { when: status, does: on },
  ]);
  expect(await bmc.getPower()).toBe('on');
  expect([...suites.values()]).toEqual([3]);
});

test('a BMC that got suite 17 by an update is spoken to by it again', async () => {
  const refused = 'echo "Error in open session response message : no matching cipher suite" >&2; exit 1';
  const { bmc, suites } = await setUp([
    { when: "*'-C 3 '*", does: refused },
    { when: status, does: on },
  ]);
  suites.set('ipmi://192.0.2.7', 3);
  await bmc.getPower();
  expect([...suites.values()]).toEqual([17]);
});

test('a reading that is lost is asked for again, a power command never', async () => {
  const { bmc, commands, suites } = await setUp([
    { when: status, does: noSession, times: 2 },
    { when: status, does: off },
    { when: "*'chassis power on'", does: noSession },
  ]);
  suites.set('ipmi://192.0.2.7', 17);
  await expect(bmc.setPower('on')).rejects.toMatchObject({ details: { reason: 'unreachable' } });
  expect((await commands()).filter((line) => line === 'chassis power on')).toHaveLength(1);
});

test('a busy BMC is asked again', async () => {
  const { bmc } = await setUp([
    {
      when: status,
      does: 'echo "Unable to send RAW command (channel=0x0 netfn=0x0 lun=0x0 cmd=0x1 rsp=0xc0): Node busy" >&2; exit 1',
      times: 2,
    },
    { when: status, does: on },
  ]);
  expect(await bmc.getPower()).toBe('on');
});

test('a machine that does not follow is told with its last state', async () => {
  const { bmc, clock } = await setUp([
    { when: status, does: on },
    { when: "*'chassis power soft'", does: 'exit 0' },
  ]);
  await expect(bmc.setPower('graceful-off', { deadline: clock.now() + 10_000 })).rejects.toMatchObject({
    code: 'DRIVER_ERROR',
    details: { reason: 'power-timeout', wanted: 'off', power: 'on' },
  });
});

test('an operator’s account is used as one', async () => {
  const { bmc, commands } = await setUp([
    {
      when: "*'-L ADMINISTRATOR'*",
      does: 'echo "RAKP 2 message indicates an error : unauthorized role or privilege level requested" >&2; exit 1',
    },
    { when: status, does: on },
  ]);
  expect(await bmc.getPower()).toBe('on');
  expect(await commands()).toHaveLength(2);
});

test('the password arrives by a file without a name, whatever is in it; it is in no argument and no environment', async () => {
  const password = `p4 ß:"$x'\\`;
  const { client } = await setUp(
    [
      {
        when: '*',
        does: 'echo "password=$(cat /proc/self/fd/3)"; tr "\\\\0" "\\\\n" </proc/$$/environ; tr "\\\\0" " " </proc/$$/cmdline; exit 0',
      },
    ],
    password,
  );
  const said = await client.run(['chassis', 'status']);
  expect(said.split(password)).toHaveLength(2);
  expect(said).toContain(`password=${password}`);
  expect(said).not.toContain('IPMITOOL_PASSWORD');
});

test('a run that hangs is ended, and one that is cancelled at once', async () => {
  const { client } = await setUp([{ when: '*', does: 'exec sleep 30' }]);
  const began = performance.now();
  await expect(client.run(['chassis', 'status'], { timeoutMs: 100 })).rejects.toMatchObject({
    details: { reason: 'unreachable' },
  });
  await expect(client.run(['chassis', 'status'], { signal: AbortSignal.timeout(50) })).rejects.toThrow();
  expect(performance.now() - began).toBeLessThan(5_000);
});

test('a password that IPMI cannot have, and a site without ipmitool, are said before anything is sent', async () => {
  const { bmc, commands } = await setUp([{ when: '*', does: 'exit 0' }], 'x'.repeat(21));
  await expect(bmc.getPower()).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    details: { reason: 'password-length' },
  });
  expect(await commands()).toEqual([]);
  const options = { address: 'ipmi://192.0.2.7', username: 'admin', password: 'secret', log: silentLog() };
  const missing = new IpmiClient({
    ...options,
    program: '/nonexistent/ipmitool',
    ciphers: { find: () => 3, keep: () => {} },
    clock: steppingClock(),
  });
  await expect(missing.run(['chassis', 'status'])).rejects.toMatchObject({
    code: 'UNSUPPORTED',
    details: { reason: 'ipmitool-missing' },
  });
});
