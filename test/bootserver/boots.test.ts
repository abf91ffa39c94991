import { beforeEach, expect, test } from 'vitest';
import { Boots } from '#bootserver/boots.ts';
import type { BootEvent } from '#bootserver/machine.ts';
import { type SteppingClock, steppingClock } from '../fakes/clocks.ts';

const mac = '02:00:00:00:00:01';
let events: BootEvent[];
let clock: SteppingClock;
let boots: Boots;

beforeEach(() => {
  events = [];
  clock = steppingClock(1_000_000);
  boots = new Boots((event) => events.push(event), clock);
});

function bootId(): string {
  boots.note(mac, 'boot.other', 'look');
  return events.at(-1)!.bootId;
}

/** From the first DISCOVER to the script, as UEFI firmware does it. */
function boot(): string {
  boots.discovered(mac, 'uefi-pxe');
  boots.loaderGiven(mac);
  boots.discovered(mac, 'ipxe');
  return boots.scriptGiven(mac);
}

test('firmware, iPXE, ramdisk and OS of one boot share an id', () => {
  boots.discovered(mac, 'uefi-pxe');
  const first = bootId();
  boots.discovered(mac, 'uefi-pxe');
  boots.loaderGiven(mac);
  boots.discovered(mac, 'ipxe');
  boots.discovered(mac, 'ipxe');
  expect(boots.scriptGiven(mac)).toBe(first);
  boots.discovered(mac, 'ramdisk');
  boots.discovered(mac, 'os');
  expect(bootId()).toBe(first);
});

test('a boot that was begun before the server started again goes on, until the machine boots anew', () => {
  boots = new Boots(
    (event) => events.push(event),
    clock,
    () => 'boot_before',
  );
  expect(boots.scriptGiven(mac)).toBe('boot_before');
  boots.discovered(mac, 'ramdisk');
  expect(bootId()).toBe('boot_before');
  boots.discovered(mac, 'uefi-http');
  expect(bootId()).not.toBe('boot_before');
});

test('a boot after the script is a new one, however soon', () => {
  expect(boot()).not.toBe(boot());
});

test('a reset between loader and script is a new boot', () => {
  boots.discovered(mac, 'uefi-pxe');
  boots.loaderGiven(mac);
  const first = bootId();
  boots.discovered(mac, 'uefi-pxe');
  expect(bootId()).not.toBe(first);
});

test('a reset of a machine whose ROM is iPXE is a new boot once it has its script', () => {
  boots.discovered(mac, 'ipxe');
  const first = boots.scriptGiven(mac);
  boots.discovered(mac, 'ipxe');
  expect(bootId()).not.toBe(first);
});

test('firmware that was quiet for over a minute begins anew', async () => {
  boots.discovered(mac, 'bios-pxe');
  const first = bootId();
  await clock.sleep(60_001);
  boots.discovered(mac, 'bios-pxe');
  expect(bootId()).not.toBe(first);
});

test('an OS belongs to the boot that brought it, however long that took', async () => {
  const first = boot();
  await clock.sleep(3_600_000);
  boots.discovered(mac, 'os');
  expect(bootId()).toBe(first);
});

test('a script without any DISCOVER before it has an id too', () => {
  expect(boots.scriptGiven(mac)).toMatch(/^boot_/);
});

test('a loader counts as given for a minute, and until the script is there', async () => {
  boots.discovered(mac, 'bios-pxe');
  expect(boots.hasLoader(mac)).toBe(false);
  boots.loaderGiven(mac);
  expect(boots.hasLoader(mac)).toBe(true);
  await clock.sleep(60_001);
  expect(boots.hasLoader(mac)).toBe(false);
  boots.loaderGiven(mac);
  boots.scriptGiven(mac);
  expect(boots.hasLoader(mac)).toBe(false);
});

test('a flood of machines forgets the oldest ones', () => {
  const first = boot();
  for (let n = 0; n < 8192; n++) boots.discovered(`02:00:00:01:${n >> 8}:${n & 255}`, 'os');
  expect(bootId()).not.toBe(first);
});

test("an installer's line belongs to the boot that the machine is in, and begins and prolongs none", async () => {
  boots.logged(mac, 'before any boot', 6);
  expect(events).toEqual([]);
  const first = boot();
  await clock.sleep(50_000);
  boots.logged(mac, 'unpacking', 6);
  expect(events.at(-1)).toEqual({
    bootId: first,
    mac,
    type: 'boot.log',
    text: 'unpacking',
    fact: { step: 'log', severity: 6 },
  });
  const firmware = new Boots((event) => events.push(event), clock);
  firmware.discovered(mac, 'uefi-pxe');
  await clock.sleep(50_000);
  firmware.logged(mac, 'made up', 6);
  await clock.sleep(20_000);
  expect(firmware.discovered(mac, 'uefi-pxe')).toBe(true);
});
