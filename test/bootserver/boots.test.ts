import { beforeEach, expect, test } from 'vitest';
import { Boots } from '#bootserver/boots.ts';
import type { BootEvent } from '#bootserver/machine.ts';
import type { BootFact } from '#contract/bootFact.ts';
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
  boots = new Boots((event) => events.push(event), clock, {
    lastBoot: () => ({ bootId: 'boot_before', at: 0, facts: [{ step: 'token' }] }),
  });
  expect(boots.scriptGiven(mac)).toBe('boot_before');
  boots.discovered(mac, 'ramdisk');
  expect(bootId()).toBe('boot_before');
  boots.discovered(mac, 'uefi-http');
  expect(bootId()).not.toBe('boot_before');
});

const ack: BootFact = { step: 'ack', client: 'uefi-pxe', file: 'snponly.efi' };
const download = { step: 'tftp', file: 'snponly.efi', bytes: 1, blockSize: 512, resentBlocks: 0 } as const;
const loaded: BootFact = { ...download, outcome: 'complete' };

function restarted(facts: BootFact[], secondsAgo: number): Boots {
  const lastBoot = () => ({ bootId: 'boot_before', at: clock.now() - secondsAgo * 1000, facts });
  return new Boots((event) => events.push(event), clock, { lastBoot });
}

test('a restart of the server splits no boot: what speaks next goes on with it', () => {
  boots = restarted([ack, loaded], 20);
  expect(boots.hasLoader(mac)).toBe(true);
  expect(boots.discovered(mac, 'ipxe')).toBe(false);
  expect(boots.scriptGiven(mac)).toBe('boot_before');
  boots = restarted([ack], 20);
  expect([boots.discovered(mac, 'uefi-pxe'), boots.kindOf(mac)]).toEqual([false, 'uefi-pxe']);
  boots = restarted([ack, loaded, { step: 'script', boots: 'disk' }], 7200);
  expect(boots.discovered(mac, 'os')).toBe(false);
  expect(bootId()).toBe('boot_before');
});

const over: [when: string, facts: BootFact[], secondsAgo: number][] = [
  ['long ago', [ack, loaded], 61],
  ['that had its script', [ack, loaded, { step: 'script', boots: 'ramdisk' }], 20],
];

test.each(over)('a boot of before %s is over', (_, facts, secondsAgo) => {
  expect(restarted(facts, secondsAgo).discovered(mac, 'ipxe')).toBe(true);
});

test('firmware that speaks after the loader was fetched boots anew, also after a restart of the server', () => {
  expect(restarted([ack, loaded], 20).discovered(mac, 'uefi-pxe')).toBe(true);
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

test('a flood of machines forgets the strangers that are oldest, and nothing of a machine that the site has named', () => {
  const [named, stranger] = [mac, '02:00:00:00:00:02'];
  boots = new Boots((event) => events.push(event), clock, { isNamed: (one) => one === named });
  for (const one of [named, stranger]) {
    boots.discovered(one, 'uefi-pxe');
    boots.loaderGiven(one);
  }
  for (let n = 0; n < 8192; n++) boots.discovered(`02:00:00:01:${n >> 8}:${n & 255}`, 'os');
  expect([boots.hasLoader(named), boots.hasLoader(stranger)]).toEqual([true, false]);
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
