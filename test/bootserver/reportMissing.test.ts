import { expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { reportMissing } from '#bootserver/bootNetwork.ts';
import { Boots } from '#bootserver/boots.ts';
import type { BootEvent } from '#bootserver/machine.ts';

const mac = '02:00:00:00:00:01';

function newReport() {
  const events: BootEvent[] = [];
  const boots = new Boots((event) => events.push(event), systemClock);
  const holders = { macAt: (address: string) => (address === '10.77.0.9' ? mac : undefined) };
  boots.discovered(mac, 'uefi-pxe');
  return {
    events,
    boots,
    missing: (from: string, file: string) => reportMissing(from, file, { boots, holders }),
  };
}

test('a file that is not here is a step of the boot, once, and of nobody else’s', () => {
  const { events, boots, missing } = newReport();
  missing('10.77.0.9', 'pxelinux.0');
  missing('10.77.0.9', 'pxelinux.0');
  missing('10.77.0.10', 'other');
  expect(events).toMatchObject([
    {
      mac,
      type: 'boot.tftp',
      text: 'asked for pxelinux.0, there is no such file',
      fact: { step: 'no-file', file: 'pxelinux.0' },
    },
  ]);
  boots.scriptGiven(mac);
  boots.discovered(mac, 'uefi-pxe');
  missing('10.77.0.9', 'pxelinux.0');
  expect(events).toHaveLength(2);
});

test('whatever a client asks for, its timeline stays short and readable', () => {
  const { events, missing } = newReport();
  for (let at = 0; at < 100; at++) missing('10.77.0.9', `\u001b[2J${at}${'x'.repeat(500)}`);
  expect(events).toHaveLength(16);
  expect(events[0]?.text).toMatch(/^asked for \?\[2J0x+, there is no such file$/);
  expect(events[0]?.text.length).toBeLessThan(200);
});
