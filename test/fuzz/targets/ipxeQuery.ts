import assert from 'node:assert/strict';
import { machineScript } from '#bootserver/http/machineScript.ts';
import { text } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';
import { decisions, scriptContext } from './bootDecisions.ts';

/** What a machine says of itself becomes facts and never commands: a script has the lines that it has for anybody else. */
export const target: FuzzTarget = {
  seeds: [
    'mac=02:00:00:00:00:01&uuid=00112233-4455-6677-8899-aabbccddeeff&buildarch=x86_64&platform=efi&serial=S1',
    'mac=020000000001&buildarch=i386&platform=pcbios&uuid=&serial=a%0Ab%26&asset=%C3%A9',
    'mac=AA-BB-CC-DD-EE-FF&buildarch=arm64',
    'mac=x',
  ].map(text),
  longest: 16_384,
  async run(input) {
    const query = new URLSearchParams(input.toString('latin1'));
    for (const decision of decisions) {
      const request = { method: 'GET', path: '/ipxe', query, from: '10.0.0.9' } as const;
      const answer = await machineScript(request, scriptContext(decision));
      if (answer.status === 200) checkScript(String(answer.body));
    }
  },
};

function checkScript(script: string): void {
  assert(script.startsWith('#!ipxe\n'));
  assert(/^[\x20-\x7e\n]*$/.test(script), 'the script holds what no script of ours has');
}
