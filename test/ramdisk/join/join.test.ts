import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { siteDiscovery } from '#contract/siteDiscovery.ts';
import { locateSite } from '#ramdisk/discover.ts';
import { readCommandLine } from '#ramdisk/join/commandLine.ts';
import { readTrustLevel } from '#ramdisk/join/firmware.ts';
import { readLease } from '#ramdisk/join/lease.ts';
import { readMachineFacts } from '#ramdisk/join/machine.ts';
import { readTrust } from '#ramdisk/join/trust.ts';

const root = await mkdtemp(path.join(tmpdir(), 'railhead-join-'));
afterAll(() => rm(root, { recursive: true }));

test('the allow-listed words of a command line are read, others are not', () => {
  const line =
    'uki.efi console=ttyS0 rdinit=/bin/sh railhead.site=https://10.77.0.1:8443 railhead.token=tok_1.aB railhead.mac=52-54-00-77-00-41 railhead.trust=evil';
  expect(readCommandLine(line)).toEqual({
    site: 'https://10.77.0.1:8443',
    token: 'tok_1.aB',
    mac: '52:54:00:77:00:41',
  });
});

test.each([
  ['railhead.site=http://10.77.0.1'],
  ['railhead.site=file:///etc/passwd'],
  ['railhead.token='],
  ['railhead.token=a$(reboot)'],
  ['railhead.mac=hello'],
])('%s is dropped', (line) => {
  expect(readCommandLine(line)).toEqual({});
});

test('of a word written twice the first counts', () => {
  expect(readCommandLine('railhead.token=one railhead.token=two').token).toBe('one');
});

test('no text makes the readers throw', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      readCommandLine(`${a} railhead.site=${b}`);
      readLease(`${a}\nopt224=${b}\nsite=${a}`);
    }),
  );
});

test('a lease names the site by text or by the vendor option in hex', () => {
  const text = 'interface=eth0\nmac=52:54:00:77:00:41\nip=10.77.0.100\nsite=https://10.77.0.1:8443\n';
  expect(readLease(text)).toEqual({
    mac: '52:54:00:77:00:41',
    address: '10.77.0.100',
    site: 'https://10.77.0.1:8443',
  });
  const option = Buffer.from('https://10.77.0.1:8443').toString('hex');
  expect(readLease(`opt${siteDiscovery.optionNumber}=${option}`).site).toBe('https://10.77.0.1:8443');
});

test('the command line goes before the lease, the lease before what the machine has', () => {
  const facts = { bootId: 'b', trust: 'network' as const, macs: ['52:54:00:00:00:09', '52:54:00:00:00:01'] };
  const lease = { site: 'https://lease', mac: '52:54:00:00:00:02' };
  const hints = { site: 'https://line', mac: '52:54:00:00:00:01', token: 'tok' };
  expect(locateSite(hints, lease, facts)).toEqual(hints);
  expect(locateSite({}, lease, facts)).toEqual(lease);
  expect(locateSite({ site: 'https://line' }, {}, facts).mac).toBe('52:54:00:00:00:09');
  expect(() => locateSite({}, {}, facts)).toThrow('no site is named');
  expect(() => locateSite({ site: 'https://line' }, {}, { ...facts, macs: [] })).toThrow(
    'no Ethernet interface',
  );
});

test("a command line that names another machine's interface chooses none", () => {
  const facts = { bootId: 'b', trust: 'network' as const, macs: ['52:54:00:00:00:09'] };
  const hints = { site: 'https://line', mac: '52:54:00:00:00:01' };
  expect(locateSite(hints, {}, facts).mac).toBe('52:54:00:00:00:09');
});

const uefi = '8be4df61-93ca-11d2-aa0d-00e098032b8c';
const enforced = { [`SecureBoot-${uefi}`]: 1, [`SetupMode-${uefi}`]: 0 };
const whole = { 'StubInfo-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f': 0 };
const shim = { 'MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23': 0 };

test.each([
  ['without EFI', {}, 'network'],
  ['Secure Boot and the whole image started by firmware', { ...enforced, ...whole }, 'own-key'],
  ['a boot loader that hands over an initramfs', enforced, 'network'],
  ['shim', { ...enforced, ...whole, ...shim }, 'network'],
  ['Secure Boot off', { ...enforced, ...whole, [`SecureBoot-${uefi}`]: 0 }, 'network'],
  ['Secure Boot in its set-up mode', { ...enforced, ...whole, [`SetupMode-${uefi}`]: 1 }, 'network'],
])('%s is trust level %s', async (name, variables, level) => {
  const own = await withCommandLines(name, 'quiet', 'quiet');
  const efivars = path.join(own, 'sys/firmware/efi/efivars');
  await mkdir(efivars, { recursive: true });
  for (const [variable, value] of Object.entries(variables))
    await writeFile(path.join(efivars, variable), Buffer.from([7, 0, 0, 0, value]));
  expect(await readTrustLevel(own)).toBe(level);
});

test.each([
  ['a command line from elsewhere', 'quiet', 'quiet init=/bin/sh'],
  ['an image that embeds none', undefined, 'quiet'],
])('%s is trust level network', async (name, embedded, present) => {
  const own = await withCommandLines(name, embedded, present);
  await mkdir(path.join(own, 'sys/firmware/efi/efivars'), { recursive: true });
  for (const [variable, value] of Object.entries({ ...enforced, ...whole }))
    await writeFile(path.join(own, 'sys/firmware/efi/efivars', variable), Buffer.from([7, 0, 0, 0, value]));
  expect(await readTrustLevel(own)).toBe('network');
});

/** A root with the command line that the image embeds, and the one that the kernel has. */
async function withCommandLines(
  name: string,
  embedded: string | undefined,
  present: string,
): Promise<string> {
  const own = path.join(root, name);
  await mkdir(path.join(own, 'etc/railhead'), { recursive: true });
  await mkdir(path.join(own, 'proc'), { recursive: true });
  await writeFile(path.join(own, 'proc/cmdline'), `${present}\n`);
  if (embedded !== undefined) await writeFile(path.join(own, 'etc/railhead/command-line'), `${embedded}\n`);
  return own;
}

async function machine(uuid: string) {
  const files = {
    'sys/class/dmi/id/product_uuid': uuid,
    'proc/sys/kernel/random/boot_id': 'boot-1\n',
    'sys/class/net/lo/address': '00:00:00:00:00:00\n',
    'sys/class/net/lo/type': '772\n',
    'sys/class/net/eth0/address': '52:54:00:00:00:01\n',
    'sys/class/net/eth0/type': '1\n',
    'sys/class/net/eth1/address': '52:54:00:00:00:02\n',
    'sys/class/net/eth1/type': '1\n',
    'sys/class/net/eth1/carrier': '1\n',
    'sys/class/net/vlan42.0/address': '52:54:00:00:00:02\n',
    'sys/class/net/vlan42.0/type': '1\n',
    'sys/class/net/vlan42.0/carrier': '1\n',
  };
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), content);
  }
  return readMachineFacts(root);
}

test('a machine tells its UUID and its Ethernet addresses, those with a link first', async () => {
  expect(await machine('4C4C4544-0042-3510-8052-B4C04F564432\n')).toEqual({
    uuid: '4c4c4544-0042-3510-8052-b4c04f564432',
    bootId: 'boot-1',
    macs: ['52:54:00:00:00:02', '52:54:00:00:00:01'],
    trust: 'network',
  });
});

test.each([
  '00000000-0000-0000-0000-000000000000',
  'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
  'To be filled by O.E.M.',
])('the UUID %s names no machine', async (uuid) => {
  expect(await machine(uuid)).not.toHaveProperty('uuid');
});

test.each([
  ['missing', undefined],
  ['no JSON', '{'],
  ['without a key', '{"ca":"-----BEGIN CERTIFICATE-----"}'],
])('a trust file that is %s is an error of the image', async (name, content) => {
  const file = path.join(root, `trust ${name}`);
  if (content !== undefined) await writeFile(file, content);
  await expect(readTrust(file)).rejects.toMatchObject({ code: 'INVALID_CONFIG' });
});
