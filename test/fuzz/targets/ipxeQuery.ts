import assert from 'node:assert/strict';
import { machineScript } from '#bootserver/http/machineScript.ts';
import type { BootDecision } from '#bootserver/machine.ts';
import { text } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

const decisions: readonly BootDecision[] = [
  { kind: 'disk' },
  {
    kind: 'disk',
    loader: { espGuid: '0fc63daf-8483-4772-8e79-3d69d8477de4', path: '\\EFI\\debian\\shimx64.efi' },
  },
  { kind: 'vlan', vlan: 42 },
  { kind: 'iso', digest: 'ab'.repeat(32) },
  { kind: 'ramdisk', digest: 'cd'.repeat(32), token: 'token', kernelArguments: ['console=ttyS0'] },
];

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
      const answer = await machineScript(
        { method: 'GET', path: '/ipxe', query, from: '10.0.0.9' },
        {
          httpUrl: 'http://10.0.0.1:8080',
          machineUrl: 'https://10.0.0.1:8443',
          hasLoader: () => false,
          scriptGiven: () => 'boot_1',
          leasedTo: () => undefined,
          decide: () => decision,
          note: () => {},
        },
      );
      if (answer.status === 200) checkScript(String(answer.body));
    }
  },
};

function checkScript(script: string): void {
  assert(script.startsWith('#!ipxe\n'));
  assert(/^[\x20-\x7e\n]*$/.test(script), 'the script holds what no script of ours has');
}
