import { expect, test } from 'vitest';
import { firstConfig } from '#grub/firstConfig.ts';
import { type MachineConfig, machineConfig } from '#grub/machineConfig.ts';
import { bootScript } from '#ipxe/bootScript.ts';
import { bootScript6 } from '#ipxe/bootScript6.ts';
import { diskScript } from '#ipxe/diskScript.ts';
import { isoScript } from '#ipxe/isoScript.ts';
import { ramdiskScript } from '#ipxe/ramdiskScript.ts';
import { vlanScript } from '#ipxe/vlanScript.ts';

const httpUrl = 'http://10.77.0.1:8080';
const httpUrl6 = 'http://[fd77::1]:8080';
const digest = 'ab'.repeat(32);
const mac = '52:54:00:77:00:41';
const loader = { espGuid: '0b1c2d3e-4f50-8123-9abc-def012345678', path: '\\EFI\\BOOT\\BOOTX64.EFI' };
const kernelArguments = ['quiet', 'railhead.site=https://10.77.0.1:8443', 'railhead.token=tok_1'];

const menus: MachineConfig['boot'][] = [
  { kind: 'disk' },
  { kind: 'iso', digest },
  { kind: 'vlan', vlan: 42 },
  { kind: 'ramdisk', digest, kernelArguments },
];
const scripts: [name: string, text: string][] = [
  ['first script', bootScript(httpUrl, '10.77.0.1')],
  ['first script over IPv6', bootScript6(httpUrl6)],
  ...[httpUrl, httpUrl6].flatMap((url): [string, string][] => [
    [`VLAN, ${url}`, vlanScript({ httpUrl: url, mac, vlan: 42, newerIpxe: 'snponly.efi' })],
    [`first GRUB configuration, ${url}`, firstConfig(url)],
    ...menus.map((boot): [string, string] => [
      `GRUB menu of ${boot.kind}, ${url}`,
      machineConfig({ architecture: 'x86_64', httpUrl: url, loader, boot }),
    ]),
    ...(['uefi', 'bios'] as const).flatMap((firmware): [string, string][] => [
      [`ramdisk, ${firmware}, ${url}`, ramdiskScript({ firmware, httpUrl: url, digest, kernelArguments })],
      [`ISO, ${firmware}, ${url}`, isoScript({ firmware, httpUrl: url, digest })],
      [`disk, ${firmware}`, diskScript(firmware, loader)],
    ]),
  ]),
];

/** The host of every URL, of iPXE's and the kernel's kind (`http://host`) and of GRUB's (`(http,host)`). */
function hostsIn(text: string): string[] {
  return [
    ...text.matchAll(/\b[a-z]+:\/\/(\[[^\]]*\]|[^:/\s'"]*)|\((?:http|tftp|https),(\[[^\]]*\]|[^:)]*)/g),
  ].map(([, url, grub]) => url ?? grub ?? '');
}

test.each(scripts)('case 49: no name is to be resolved: %s', (_, text) => {
  for (const host of hostsIn(text)) expect(host).toMatch(/^(10\.77\.0\.1|\[fd77::1\])$/);
  expect(text).not.toMatch(/\bnslookup\b|\bnet_nslookup\b|\bset dns\b/);
});

test.each(scripts.filter(([name]) => /first|ramdisk/.test(name)))('hosts are found in %s', (_, text) => {
  expect(hostsIn(text)).not.toEqual([]);
});
