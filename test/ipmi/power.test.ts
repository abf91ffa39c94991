import { expect, test } from 'vitest';
import { setUpTool } from './toolBench.ts';

const on = 'echo " 01 00 40"; exit 0';
const off = 'echo " 00 00 40"; exit 0';
const status = "*'raw 0x00 0x01'";
const obeyed = { when: "*'chassis power'*", does: 'exit 0' };

const powerCommands = (lines: string[]) => lines.filter((line) => line.startsWith('chassis power'));

test('an OS that obeys in its time is not switched off', async () => {
  const { bmc, commands } = await setUpTool([
    { when: status, does: on, times: 3 },
    { when: status, does: off },
    obeyed,
  ]);
  expect(await bmc.setPower('graceful-off', { forceAfterMs: 30_000 })).toBe('off');
  expect(powerCommands(await commands())).toEqual(['chassis power soft']);
});

test.each([
  ['graceful-off', 'off', ['soft', 'off']],
  ['graceful-restart', 'on', ['soft', 'off', 'on']],
] as const)('%s: an OS that does not obey in its time is switched off', async (action, end, sent) => {
  // On until it is switched off by force, and on again by the last command.
  const { bmc, commands, clock } = await setUpTool([
    { when: "*'chassis power off'", does: 'touch $STATE/off; exit 0' },
    { when: "*'chassis power on'", does: 'rm $STATE/off; exit 0' },
    obeyed,
    { when: status, does: `if [ -e $STATE/off ]; then ${off}; else ${on}; fi` },
  ]);
  expect(await bmc.setPower(action, { forceAfterMs: 30_000 })).toBe(end);
  expect(powerCommands(await commands())).toEqual(sent.map((word) => `chassis power ${word}`));
  expect(clock.now()).toBeGreaterThanOrEqual(28_000);
  expect(clock.now()).toBeLessThan(40_000);
});

test('nobody is switched off by force whose time is not over at the deadline', async () => {
  const { bmc, commands, clock } = await setUpTool([{ when: status, does: on }, obeyed]);
  const limits = { forceAfterMs: 60_000, deadline: clock.now() + 20_000 };
  await expect(bmc.setPower('graceful-off', limits)).rejects.toMatchObject({
    details: { reason: 'power-timeout', action: 'graceful-off' },
  });
  expect(powerCommands(await commands())).toEqual(['chassis power soft']);
});

test('a change of power that nobody limits is given 120 seconds', async () => {
  const { bmc, clock } = await setUpTool([{ when: status, does: off }, obeyed]);
  await expect(bmc.setPower('on')).rejects.toMatchObject({
    code: 'DRIVER_ERROR',
    details: { reason: 'power-timeout', wanted: 'on', power: 'off' },
  });
  expect(clock.now()).toBeGreaterThan(110_000);
  expect(clock.now()).toBeLessThanOrEqual(120_000);
});
