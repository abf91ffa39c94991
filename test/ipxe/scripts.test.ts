import { assert, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bootScript } from '#ipxe/bootScript.ts';
import { bootScript6 } from '#ipxe/bootScript6.ts';
import { diskScript } from '#ipxe/diskScript.ts';
import { efiPath, scriptWord, setting } from '#ipxe/escape.ts';
import { isoScript } from '#ipxe/isoScript.ts';
import { ramdiskScript } from '#ipxe/ramdiskScript.ts';
import { vlanScript } from '#ipxe/vlanScript.ts';

const httpUrl = 'http://10.77.0.1:8080';
const digest = 'ab'.repeat(32);
const loader = { espGuid: '0b1c2d3e-4f50-8123-9abc-def012345678', path: '\\EFI\\BOOT\\BOOTX64.EFI' };

test.each([
  ['first', bootScript(httpUrl, '10.77.0.1')],
  ['first-ipv6', bootScript6('http://[fd77::1]:8080')],
  ['vlan', vlanScript({ httpUrl, mac: '52:54:00:77:00:41', vlan: 42 })],
  ['iso', isoScript({ firmware: 'uefi', httpUrl, digest })],
])('the whole script %s.ipxe', async (name, script) => {
  await expect(script).toMatchFileSnapshot(`../fixtures/ipxe/${name}.ipxe`);
});

test('an iPXE without VLANs loads ours, once', () => {
  const options = { httpUrl, mac: '52:54:00:77:00:41', vlan: 42 };
  const load = `chain --autofree ${httpUrl}/ipxe/undionly.kpxe ||`;
  const lines = vlanScript({ ...options, newerIpxe: 'undionly.kpxe' }).split('\n');
  expect(lines.indexOf(load)).toBeGreaterThan(lines.indexOf(':lacking'));
  expect(vlanScript(options)).not.toContain('/ipxe/');
});

test('only requests of our own scripts have our user class', () => {
  for (const script of [
    bootScript(httpUrl, '10.77.0.1'),
    vlanScript({ httpUrl, mac: '52:54:00:77:00:41', vlan: 42 }),
  ]) {
    const lines = script.split('\n');
    const set = lines.indexOf('set user-class railhead-ipxe');
    const cleared = lines.indexOf('clear user-class');
    const asks = lines.findIndex((line) => line.startsWith('dhcp '));
    expect([set < asks, asks < cleared]).toEqual([true, true]);
    expect(lines.filter((line) => line.startsWith('dhcp '))).toHaveLength(1);
  }
});

test.each(['uefi', 'bios'] as const)(
  '%s boots the kernel and the initrd of the image, with its command line',
  (firmware) => {
    const kernelArguments = [
      'console=ttyS0,115200',
      'railhead.site=https://10.77.0.1:8443',
      'railhead.token=tok_1',
    ];
    const script = ramdiskScript({ firmware, httpUrl, digest, kernelArguments });
    const image = `${httpUrl}/images/sha256/${digest}`;
    expect(script).toContain(
      `kernel --name linux ${image}/sections/linux initrd=initrd ${kernelArguments.join(' ')} && goto kernel-done ||`,
    );
    expect(script).toContain(`initrd --name initrd ${image}/sections/initrd &&`);
    expect(script).not.toMatch(new RegExp(`kernel .*${digest} `));
  },
);

test('with Secure Boot on, the whole image goes first, and what was refused is tried by its kernel', () => {
  const kernelArguments = ['railhead.site=https://10.77.0.1:8443'];
  const [uefi, bios] = (['uefi', 'bios'] as const).map((firmware) =>
    ramdiskScript({ firmware, httpUrl, digest, kernelArguments }).split('\n'),
  );
  const whole = uefi!.slice(2, uefi!.indexOf(':sections') + 1);
  expect(whole.join('\n')).toBe(`iseq \${efi/SecureBoot:hexraw} 01 || goto sections
echo railhead: Secure Boot is on, the firmware verifies the whole image
set whole-tries:int32 0
:whole
imgfetch --name ramdisk.efi ${httpUrl}/images/sha256/${digest}/ramdisk.efi railhead.site=https://10.77.0.1:8443 && goto whole-done ||
inc whole-tries
iseq \${whole-tries} 15 && goto failed ||
echo railhead: trying again in \${whole-tries} s
sleep \${whole-tries}
goto whole
:whole-done
imgexec ramdisk.efi ||
echo railhead: the whole image did not start, trying its kernel
imgfree
:sections`);
  expect(bios!.slice(2)).toEqual(uefi!.slice(2 + whole.length));
});

test('a local boot tries each disk, and hands back to the firmware with a failure', () => {
  const lines = diskScript('uefi').trim().split('\n');
  expect(lines[2]).toBe('sanboot --no-describe --drive 0x80 ||');
  expect(lines[3]).toBe('sanboot --no-describe --drive 0x81 ||');
  expect(lines.at(-1)).toBe('exit 1');
});

test('UEFI looks for the deployed disk by its ESP first, on any drive', () => {
  const lines = diskScript('uefi', loader).split('\n');
  const search = `sanboot --no-describe --drive 0 --uuid ${loader.espGuid} --filename ${loader.path} ||`;
  const [found, first] = [lines.indexOf(search), lines.indexOf('sanboot --no-describe --drive 0x80 ||')];
  expect(found).toBeGreaterThan(0);
  expect(first).toBe(found + 1);
  expect(lines.filter((line) => !line.includes(loader.espGuid))).toEqual(diskScript('uefi').split('\n'));
});

test('BIOS knows no GUIDs', () => {
  expect(diskScript('bios', loader)).toBe(diskScript('bios'));
});

describe('every script', () => {
  const scripts = {
    boot: bootScript(httpUrl, '10.77.0.1'),
    vlan: vlanScript({ httpUrl, mac: '52:54:00:77:00:41', vlan: 42 }),
    iso: isoScript({ firmware: 'bios', httpUrl, digest }),
    'bios disk': diskScript('bios'),
    'uefi disk': diskScript('uefi'),
    'uefi deployed disk': diskScript('uefi', loader),
    'bios ramdisk': ramdiskScript({ firmware: 'bios', httpUrl, digest, kernelArguments: ['a=b'] }),
    'uefi ramdisk': ramdiskScript({ firmware: 'uefi', httpUrl, digest, kernelArguments: ['a=b'] }),
  };

  test.each(Object.entries(scripts))(
    '%s: begins with the magic, jumps to labels that are there, ends in a failure',
    (_, script) => {
      expect(script.startsWith('#!ipxe\n')).toBe(true);
      for (const [, label] of script.matchAll(/goto (\S+)/g)) expect(script).toContain(`\n:${label}\n`);
      const labels = [...script.matchAll(/^:(\S+)$/gm)].map(([, label]) => label);
      expect(new Set(labels).size).toBe(labels.length);
      expect(script.trim().endsWith('exit 1')).toBe(true);
    },
  );

  test.each(Object.entries(scripts))('%s: URLs have IP addresses and no doubled slash', (_, script) => {
    // Case 49: names may be unknown to a loader that was started by HTTP.
    for (const [, host, rest] of script.matchAll(/http:\/\/([^/\s]+)(\S*)/g)) {
      expect(host).toMatch(/^[\d.]+:\d+$/);
      expect(rest).not.toContain('//');
    }
  });
});

describe('what is put into a script', () => {
  test.each([
    'a b',
    'a\nb',
    setting('net0/mac'),
    '&&',
    ':x',
    'a"b',
    "a'b",
    'a;b',
    'a|b',
    'a$b',
    '#x',
    'a\\b',
    '',
    'ä',
    'a\0b',
  ])('%j is refused', (text) => {
    expect(() => scriptWord(text)).toThrow(RangeError);
    expect(() => ramdiskScript({ firmware: 'uefi', httpUrl, digest, kernelArguments: [text] })).toThrow(
      RangeError,
    );
  });

  test.each([
    '',
    'EFI\\BOOT',
    '\\',
    '\\EFI\\',
    '\\EFI\\\\a',
    '\\EFI\\a b',
    '\\EFI\\a\nexit',
    `\\${setting('net0/mac')}`,
  ])('%j is no path of a loader', (path) => {
    expect(() => efiPath(path)).toThrow(RangeError);
    expect(() => diskScript('uefi', { ...loader, path })).toThrow(RangeError);
  });

  test('no loader can add a line or a word', () => {
    const words = diskScript('uefi', loader).split(/\s/).length;
    const text = string({ unit: 'binary' });
    assert(
      property(text, text, (espGuid, name) => {
        try {
          const script = diskScript('uefi', { espGuid, path: `\\EFI\\${name}` });
          expect(script.split(/\s/)).toHaveLength(words);
          expect(script).not.toContain('${');
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
    );
  });

  test('no argument can add a line or a word', () => {
    const lines = ramdiskScript({ firmware: 'uefi', httpUrl, digest, kernelArguments: ['x'] }).split(
      '\n',
    ).length;
    assert(
      property(string({ unit: 'binary' }), (text) => {
        try {
          const script = ramdiskScript({ firmware: 'uefi', httpUrl, digest, kernelArguments: [text] });
          expect(script.split('\n')).toHaveLength(lines);
          expect(script).not.toMatch(/\$\{(?!((whole|kernel|initrd)-tries|efi\/SecureBoot:hexraw)\})/);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
    );
  });
});
