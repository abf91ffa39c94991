import type { FuzzTarget } from '../target.ts';

/** Every parser of bytes that come from outside: its file exports `target`. Loaded one at a time, so that only its own code is covered. */
const files: Readonly<Record<string, () => Promise<{ target: FuzzTarget }>>> = {
  dhcp4: () => import('./dhcp4.ts'),
  'dhcp4-options': () => import('./dhcp4Options.ts'),
  dhcp6: () => import('./dhcp6.ts'),
  'pxe-4011': () => import('./pxe4011.ts'),
  tftp: () => import('./tftp.ts'),
  'tftp-transfer': () => import('./tftpTransfer.ts'),
  syslog: () => import('./syslog.ts'),
  'http-request': () => import('./httpRequest.ts'),
  'http-range': () => import('./httpRange.ts'),
  'ipxe-query': () => import('./ipxeQuery.ts'),
  'grub-menu': () => import('./grubMenu.ts'),
  'oci-manifest': () => import('./ociManifest.ts'),
  'oci-challenge': () => import('./ociChallenge.ts'),
  'oci-reference': () => import('./ociReference.ts'),
  'source-answer': () => import('./sourceAnswer.ts'),
  redfish: () => import('./redfish.ts'),
  'redfish-events': () => import('./redfishEvents.ts'),
  'ramdisk-join': () => import('./ramdiskJoin.ts'),
  'agent-join': () => import('./agentJoin.ts'),
  'agent-report': () => import('./agentReport.ts'),
  'agent-poll': () => import('./agentPoll.ts'),
  jws: () => import('./jws.ts'),
  jwe: () => import('./jwe.ts'),
  certificate: () => import('./certificate.ts'),
  'boot-entry': () => import('./bootEntry.ts'),
  'kernel-arguments': () => import('./kernelArguments.ts'),
  cursor: () => import('./cursor.ts'),
  profile: () => import('./profile.ts'),
  when: () => import('./when.ts'),
  pe: () => import('./pe.ts'),
  uki: () => import('./uki.ts'),
  gpt: () => import('./gpt.ts'),
  'image-head': () => import('./imageHead.ts'),
  decompress: () => import('./decompress.ts'),
  elf: () => import('./elf.ts'),
  dcgm: () => import('./dcgm.ts'),
  ipmi: () => import('./ipmi.ts'),
  console: () => import('./console.ts'),
  'debian-index': () => import('./debianIndex.ts'),
  toml: () => import('./toml.ts'),
};

export const targetNames: readonly string[] = Object.keys(files);

export async function loadTarget(name: string): Promise<FuzzTarget> {
  const load = files[name];
  if (load === undefined)
    throw new Error(`there is no target ${name}: npm run fuzz -- --list names them all`);
  return (await load()).target;
}
