import type { MachineScriptContext } from '#bootserver/http/machineScript.ts';
import type { BootDecision } from '#bootserver/machine.ts';

/** One of each kind: what a machine that asks can be told. */
export const decisions: readonly BootDecision[] = [
  { kind: 'disk' },
  {
    kind: 'disk',
    loader: { espGuid: '0fc63daf-8483-4772-8e79-3d69d8477de4', path: '\\EFI\\debian\\shimx64.efi' },
  },
  { kind: 'vlan', vlan: 42 },
  { kind: 'iso', digest: 'ab'.repeat(32) },
  { kind: 'ramdisk', digest: 'cd'.repeat(32), token: 'token', kernelArguments: ['console=ttyS0'] },
];

/** A boot server that decides this for everybody. */
export function scriptContext(decision: BootDecision): MachineScriptContext {
  return {
    httpUrl: 'http://10.0.0.1:8080',
    machineUrl: 'https://10.0.0.1:8443',
    hasLoader: () => false,
    bootOf: () => 'boot_1',
    leasedTo: () => undefined,
    decide: () => decision,
    note: () => {},
  };
}
