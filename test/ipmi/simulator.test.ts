import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import { IpmiBmc } from '#ipmi/bmc.ts';
import { type IpmiSim, startIpmiSim } from '../fakes/ipmiSim.ts';

let sim: IpmiSim;
beforeAll(async () => {
  sim = await startIpmiSim();
});
afterAll(() => sim.stop());

async function setUp(password?: string) {
  await sim.reset();
  const suites = new Map<string, number>();
  const bmc = new IpmiBmc({
    address: sim.address,
    username: sim.username,
    password: password ?? sim.password,
    program: sim.ipmitool,
    ciphers: {
      find: (address) => suites.get(address),
      keep: (address, suite) => void suites.set(address, suite),
    },
    firmware: () => 'uefi',
    memory: {},
    log: silentLog(),
  });
  return { bmc, suites };
}

test('a machine is switched on, off and round, by a suite that the BMC knows, remembered from the first command on', async () => {
  const { bmc, suites } = await setUp();
  expect(await bmc.getPower()).toBe('off');
  expect(suites.get(sim.address)).toBe(3);
  expect(await bmc.setPower('on')).toBe('on');
  expect(await sim.chassis('power')).toBe('1');
  expect(await bmc.setPower('on')).toBe('on');
  expect(await bmc.setPower('graceful-off')).toBe('off');
  expect(await bmc.setPower('cycle')).toBe('on');
  expect(await bmc.setPower('off')).toBe('off');
  await expect(bmc.setPower('reset')).rejects.toMatchObject({ details: { reason: 'powered-off' } });
  const commands = (await sim.commands()).filter((line) => line.startsWith('chassis power'));
  expect(commands).toEqual([
    'chassis power on',
    'chassis power soft',
    'chassis power on',
    'chassis power off',
  ]);
  const tries = (await sim.arguments()).split('\n');
  expect(tries.filter((line) => line.includes('-C 17'))).toHaveLength(1);
});

test('the boot device is set with the flag of UEFI and without the 60 seconds, and read back', async () => {
  const { bmc } = await setUp();
  expect(await bmc.setBootDevice({ device: 'pxe', persistent: false })).toMatchObject({
    device: 'pxe',
    persistent: false,
    firmware: 'uefi',
    notes: [expect.stringContaining('uefi')],
  });
  expect(await sim.commands()).toContain('raw 0x00 0x08 0x05 0xa0 0x04 0x00 0x00 0x00');
  expect(await sim.commands()).toContain('raw 0x00 0x08 0x03 0x08');
  expect(await sim.chassis('boot')).toBe('pxe');
  await expect(bmc.setBootDevice({ device: 'http', persistent: false })).rejects.toMatchObject({
    code: 'UNSUPPORTED',
    details: { reason: 'boot-device' },
  });
});

test('a boot device is taken back, and one of each mode is set', async () => {
  const { bmc } = await setUp();
  await bmc.setBootDevice({ device: 'disk', persistent: false, mode: 'legacy' });
  expect(await sim.commands()).toContain('raw 0x00 0x08 0x05 0x80 0x08 0x00 0x00 0x00');
  expect(await sim.chassis('boot')).toBe('default');
  await bmc.clearBootDevice();
  expect(await sim.commands()).toContain('raw 0x00 0x08 0x05 0x80 0x00 0x00 0x00 0x00');
  expect(await sim.chassis('boot')).toBe('none');
});

test('a BMC that takes every boot device for the next boot alone is not believed to keep one', async () => {
  const { bmc } = await setUp();
  await expect(bmc.setBootDevice({ device: 'pxe', persistent: true })).rejects.toMatchObject({
    details: { reason: 'not-stored', fields: expect.arrayContaining(['persistent']) },
  });
  expect(await sim.commands()).toContain('raw 0x00 0x08 0x05 0xe0 0x04 0x00 0x00 0x00');
});

test('what IPMI knows of a machine is told', async () => {
  const { bmc } = await setUp();
  const inventory = await bmc.inspect();
  expect(inventory.bmc).toEqual({ model: 'Supermicro product 3842', firmwareVersion: '9.08' });
  expect(inventory.system).toMatchObject({ power: 'off', health: 'OK', tpms: [] });
  expect(inventory.system.uuid).toMatch(/^[0-9a-f-]{36}$/);
});

test('a wrong password is told as such once, then nothing is sent for a while', async () => {
  const { bmc } = await setUp('not-this-one');
  const refused = { code: 'DRIVER_ERROR', details: { reason: 'credentials-refused' } };
  await expect(bmc.getPower()).rejects.toMatchObject(refused);
  const before = (await sim.commands()).length;
  await expect(bmc.getPower()).rejects.toMatchObject(refused);
  expect(await sim.commands()).toHaveLength(before);
});

test('the password is in no argument of a process', async () => {
  const { bmc } = await setUp();
  await bmc.getPower();
  expect(await sim.arguments()).not.toContain(sim.password);
});
