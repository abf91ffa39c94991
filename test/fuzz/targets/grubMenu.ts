import assert from 'node:assert/strict';
import { machineMenu, machineMenuPattern } from '#bootserver/http/machineMenu.ts';
import { text } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';
import { decisions, scriptContext } from './bootDecisions.ts';

/** A path of `/grub/menu/`: what it says of the machine becomes facts and never lines of the menu. */
export const target: FuzzTarget = {
  seeds: [
    '52:54:00:77:00:41/x86_64/00112233-4455-6677-8899-aabbccddeeff',
    '52-54-00-77-00-41/arm64/',
    '525400770041/i386/x',
    "02:00:00:00:00:01/x86_64/';reboot;'",
  ].map(text),
  longest: 4_096,
  async run(input) {
    const path = `/grub/menu/${input.toString('latin1')}`;
    if (!machineMenuPattern.test(path)) return;
    for (const decision of decisions) {
      const request = { method: 'GET', path, query: new URLSearchParams(), from: '10.0.0.9' } as const;
      const answer = await machineMenu(request, scriptContext(decision));
      if (answer.status === 200) checkMenu(String(answer.body));
    }
  },
};

function checkMenu(menu: string): void {
  assert(menu.startsWith('set railhead_menu=yes\n'));
  assert(/^[\x20-\x7e\n]*$/.test(menu), 'the menu holds what no menu of ours has');
  assert.equal(menu.match(/^menuentry /gm)?.length, menu.includes('boot the ramdisk') ? 4 : 3);
}
