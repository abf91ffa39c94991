import { expect, test } from 'vitest';
import type { BootMemory } from '#ipmi/memory.ts';
import { setUpTool } from './toolBench.ts';

const on = { when: "*'raw 0x00 0x01'", does: 'echo " 01 00 40"; exit 0' };
const off = { when: "*'raw 0x00 0x01'", does: 'echo " 00 00 40"; exit 0' };
const taken = { when: "*'raw 0x00 0x08'*", does: 'exit 0' };
const untold = { when: "*'raw 0x00 0x09'*", does: 'echo "rsp=0xc1" >&2; exit 1' };
const obeyed = { when: "*'chassis power'*", does: 'exit 0' };
/** An old BMC: parameter 3 is not supported. */
const forgetful = { when: "*'raw 0x00 0x08 0x03 0x08'", does: 'echo "rsp=0x80" >&2; exit 1' };

const pxe = 'raw 0x00 0x08 0x05 0x80 0x04 0x00 0x00 0x00';
const none = 'raw 0x00 0x08 0x05 0x80 0x00 0x00 0x00 0x00';

test.each([
  [{ device: 'disk', persistent: false, mode: 'uefi' }, '0xa0 0x08'],
  [{ device: 'disk', persistent: false, mode: 'legacy' }, '0x80 0x08'],
  [{ device: 'cd', persistent: true, mode: 'uefi' }, '0xe0 0x14'],
  [{ device: 'pxe', persistent: true, mode: 'legacy' }, '0xc0 0x04'],
  [{ device: 'pxe', persistent: false }, '0x80 0x04'],
] as const)('%j is sent as the flags %s', async (override, flags) => {
  const { bmc, commands } = await setUpTool([taken, untold]);
  const firmware = 'mode' in override && override.mode === 'uefi' ? 'uefi' : 'bios';
  expect(await bmc.setBootDevice(override)).toEqual({ ...override, firmware });
  expect(await commands()).toContain(`raw 0x00 0x08 0x05 ${flags} 0x00 0x00 0x00`);
});

test('the BMC is told to keep the flags beyond 60 seconds before they are set, and that nobody has taken them', async () => {
  const { bmc, commands } = await setUpTool([taken, untold]);
  await bmc.setBootDevice({ device: 'pxe', persistent: false });
  expect(await commands()).toEqual([
    'raw 0x00 0x08 0x03 0x08',
    'raw 0x00 0x08 0x04 0x01 0x01',
    pxe,
    'raw 0x00 0x09 0x05 0x00 0x00',
  ]);
});

test('where the BMC keeps them nothing is sent again, however late the restart is', async () => {
  const { bmc, commands, clock } = await setUpTool([on, taken, untold, obeyed]);
  await bmc.setBootDevice({ device: 'pxe', persistent: false });
  await clock.sleep(3_600_000);
  await bmc.setPower('cycle');
  expect((await commands()).filter((line) => line === pxe)).toHaveLength(1);
});

test('what is not forgotten yet is not sent again', async () => {
  const { bmc, commands, clock } = await setUpTool([on, forgetful, taken, untold, obeyed]);
  await bmc.setBootDevice({ device: 'pxe', persistent: false });
  await clock.sleep(20_000);
  await bmc.setPower('cycle');
  expect((await commands()).filter((line) => line === pxe)).toHaveLength(1);
});

test('an OS that takes minutes to end has the device set again right before the machine is switched on', async () => {
  const { bmc, commands } = await setUpTool([
    { ...on, times: 46 },
    { ...off, times: 1 },
    on,
    ...[forgetful, taken, untold, obeyed],
  ]);
  await bmc.setBootDevice({ device: 'pxe', persistent: false });
  await bmc.setPower('graceful-restart');
  const sent = (await commands()).filter((line) => line === pxe || line.startsWith('chassis'));
  expect(sent).toEqual([pxe, 'chassis power soft', pxe, 'chassis power on']);
});

test('a boot device that was set before the agent started again is not lost', async () => {
  const memory: BootMemory = {};
  const { bmc, open, commands, clock } = await setUpTool([on, forgetful, taken, untold, obeyed], { memory });
  await bmc.setBootDevice({ device: 'pxe', persistent: false });
  expect(memory).toEqual({ fleeting: { flags: [0x80, 0x04, 0, 0, 0], at: 0 } });
  await clock.sleep(90_000);
  await open().setPower('cycle');
  expect((await commands()).filter((line) => line === pxe)).toHaveLength(2);
  expect(memory).toEqual({});
});

test('nobody means any more what was set days ago', async () => {
  const { bmc, commands, clock } = await setUpTool([on, forgetful, taken, untold, obeyed]);
  await bmc.setBootDevice({ device: 'pxe', persistent: false });
  await clock.sleep(3 * 24 * 3_600_000);
  await bmc.setPower('cycle');
  expect((await commands()).filter((line) => line === pxe)).toHaveLength(1);
});

test('a boot device that is taken back is none, and is not set again before the restart', async () => {
  const { bmc, commands, clock, memory } = await setUpTool([on, forgetful, taken, untold, obeyed]);
  await bmc.setBootDevice({ device: 'pxe', persistent: false });
  await bmc.clearBootDevice();
  expect(memory).toEqual({});
  await clock.sleep(90_000);
  await bmc.setPower('cycle');
  const sent = (await commands()).filter((line) => /0x08 0x05|chassis/.test(line));
  expect(sent).toEqual([pxe, none, 'chassis power cycle']);
});

test('what was not stored is not set again later', async () => {
  const other = { when: "*'raw 0x00 0x09'*", does: 'echo " 01 05 80 08 00 00 00"; exit 0' };
  const { bmc, memory } = await setUpTool([on, forgetful, other, taken, obeyed]);
  const notStored = { details: { reason: 'not-stored', fields: ['device'] } };
  await expect(bmc.setBootDevice({ device: 'pxe', persistent: false })).rejects.toMatchObject(notStored);
  expect(memory).toEqual({});
});

test('a BMC that refuses to take it back is told with its completion code', async () => {
  const { bmc } = await setUpTool([
    {
      when: '*',
      does: 'echo "Unable to send RAW command (channel=0x0 netfn=0x0 lun=0x0 cmd=0x8 rsp=0xcc): Invalid data field" >&2; exit 1',
    },
  ]);
  await expect(bmc.clearBootDevice()).rejects.toMatchObject({
    code: 'DRIVER_ERROR',
    details: { reason: 'refused' },
  });
});
