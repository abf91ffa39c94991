import { expect, test } from 'vitest';
import { Boots } from '#bootserver/boots.ts';
import { wrapsTo } from '#bootserver/wrapsTo.ts';
import type { BootQuirks } from '#contract/bootQuirks.ts';
import { steppingClock } from '../fakes/clocks.ts';

const mac = '02:00:00:00:00:01';

/** For a machine at 10.77.0.5, of a network and with settings of its own. */
function wrapsWith(settings: { network?: BootQuirks; machine?: BootQuirks }, boots: Boots): 0 | 1 {
  const { network = {}, machine = {} } = settings;
  return wrapsTo('10.77.0.5', {
    networks: [{ subnet: { address: '10.77.0.0', prefixLength: 24 }, quirks: network }],
    reservations: {
      reservation: (key) => (key === `1/${mac}` ? { quirks: machine } : undefined),
      isReserved: () => false,
    },
    boots,
    holders: { macAt: () => mac, leasedTo: () => mac },
  });
}

test('block 0 follows the last one, unless a quirk of the network or of the machine says 1', () => {
  const boots = new Boots(() => {}, steppingClock(1_000_000));
  expect(wrapsWith({}, boots)).toBe(0);
  expect(wrapsWith({ network: { any: ['tftp-wrap-to-1'] } }, boots)).toBe(1);
  expect(wrapsWith({ machine: { any: ['option-66', 'tftp-wrap-to-1'] } }, boots)).toBe(1);
});

test('a quirk of one class is for the client that the machine is now', () => {
  const boots = new Boots(() => {}, steppingClock(1_000_000));
  const machine: BootQuirks = { 'bios-pxe': ['tftp-wrap-to-1'] };
  expect(wrapsWith({ machine }, boots)).toBe(0);
  boots.discovered(mac, 'bios-pxe');
  expect(wrapsWith({ machine }, boots)).toBe(1);
  boots.discovered(mac, 'own-ipxe');
  expect(wrapsWith({ machine }, boots)).toBe(0);
});
