import { assert, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { quoted } from '#grub/escape.ts';
import { firstConfig } from '#grub/firstConfig.ts';
import { type MachineConfig, machineConfig } from '#grub/machineConfig.ts';

const httpUrl = 'http://10.77.0.1:8080';
const digest = 'ab'.repeat(32);
const loader = { espGuid: '0B1C2D3E-4f50-8123-9abc-def012345678', path: '\\EFI\\debian\\shimx64.efi' };
const configOf = (boot: MachineConfig['boot'], more: Partial<MachineConfig> = {}) =>
  machineConfig({ architecture: 'x86_64', httpUrl, boot, ...more });
const ramdisk = { kind: 'ramdisk', digest, kernelArguments: ['quiet', 'console=ttyS0,115200'] } as const;

test('the first configuration, whole', () => {
  const disk = (file: string) => `    for esp in (hd*,gpt*); do
      if [ -e "\${esp}/EFI/BOOT/${file}" ]; then
        echo "railhead: starting \${esp}"'/EFI/BOOT/${file}'
        set root="\${esp}"
        if chainloader '/EFI/BOOT/${file}'; then boot; fi
      fi
    done
    echo "railhead: no disk boots, restarting in 60 s (ESC: the menu)"
    if sleep --interruptible 60; then reboot; fi`;
  expect(firstConfig(httpUrl)).toBe(`smbios --type 1 --get-uuid 8 --set machine_uuid
echo "railhead: \${net_default_mac} at \${net_default_ip} asks for its menu"
set railhead_menu=
for wait in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 last; do
  source '(http,10.77.0.1:8080)/grub/menu/'"\${net_default_mac}/\${grub_cpu}/\${machine_uuid}"
  if [ -n "\${railhead_menu}" -o "\${wait}" = last ]; then break; fi
  echo "railhead: trying again in \${wait} s"
  sleep \${wait}
done
if [ -z "\${railhead_menu}" ]; then
  echo "railhead: no menu, booting the local disk"
  if [ "\${grub_cpu}" = x86_64 ]; then
${disk('BOOTX64.EFI')}
  else
${disk('BOOTAA64.EFI')}
  fi
fi
`);
});

test('the menu of a machine that boots the ramdisk, whole', () => {
  const disk = `menuentry 'railhead: boot the local disk' {
  for esp in (hd*,gpt*); do
    if [ -e "\${esp}/EFI/BOOT/BOOTX64.EFI" ]; then
      echo "railhead: starting \${esp}"'/EFI/BOOT/BOOTX64.EFI'
      set root="\${esp}"
      if chainloader '/EFI/BOOT/BOOTX64.EFI'; then boot; fi
    fi
  done
  echo "railhead: no disk boots, restarting in 60 s (ESC: the menu)"
  if sleep --interruptible 60; then reboot; fi
}`;
  expect(configOf(ramdisk)).toBe(`set railhead_menu=yes
set default=0
set fallback=1
set timeout_style=countdown
set timeout=3
echo "railhead: booting the ramdisk abababababab"
menuentry 'railhead: boot the ramdisk abababababab' {
  set loaded=
  for wait in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 last; do
    if linux '(http,10.77.0.1:8080)/images/sha256/${digest}/sections/linux' 'quiet' 'console=ttyS0,115200'; then if initrd '(http,10.77.0.1:8080)/images/sha256/${digest}/sections/initrd'; then set loaded=yes; fi; fi
    if [ -n "\${loaded}" -o "\${wait}" = last ]; then break; fi
    echo "railhead: trying again in \${wait} s"
    sleep \${wait}
  done
  if [ -n "\${loaded}" ]; then boot; fi
  echo "railhead: the ramdisk did not start"
  false
}
${disk}
menuentry 'restart' {
  reboot
}
menuentry 'firmware setup' {
  fwsetup
}
`);
});

test('the deployed disk is found by the GUID of its EFI system partition, before any other', () => {
  const lines = configOf({ kind: 'disk' }, { loader }).split('\n');
  const at = (text: string) => lines.findIndex((line) => line.includes(text));
  expect(lines).toContain(`    if [ "\${guid}" = '0b1c2d3e-4f50-8123-9abc-def012345678' ]; then`);
  expect(at('/EFI/debian/shimx64.efi')).toBeGreaterThan(0);
  expect(at('/EFI/debian/shimx64.efi')).toBeLessThan(at('/EFI/BOOT/BOOTX64.EFI'));
  expect(configOf({ kind: 'disk' }, { architecture: 'aarch64' })).toContain('/EFI/BOOT/BOOTAA64.EFI');
});

test('what is no ramdisk has no entry for one: the disk is the first', () => {
  for (const boot of [{ kind: 'disk' }, { kind: 'iso', digest }, { kind: 'vlan', vlan: 42 }] as const)
    expect(/menuentry '([^']+)'/.exec(configOf(boot))?.[1]).toBe('railhead: boot the local disk');
  // Else whoever pressed ESC would be taken to the second entry, which restarts the machine.
  expect(configOf({ kind: 'disk' })).not.toContain('fallback');
  expect(configOf({ kind: 'iso', digest })).toContain('the ISO abababababab is booted by iPXE alone');
  expect(configOf({ kind: 'vlan', vlan: 42 })).toContain('VLAN 42 is booted by iPXE alone');
});

test('whatever an argument holds, it is one word of the script or refused', () => {
  assert(
    property(string({ unit: 'binary' }), (text) => {
      try {
        const word = quoted(text);
        expect(word.slice(1, -1)).toBe(text);
        expect(text).not.toMatch(/['\n\r\0]/);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
      }
    }),
  );
});
