import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Inventory } from '#contract/inventory.ts';
import { validate } from '#contract/validate.ts';
import { readInventory } from '#ramdisk/inventory/read.ts';
import { readCpus, readMemory } from '#ramdisk/inventory/system.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'railhead-sysfs-'));
  await mkdir(path.join(root, 'sys/block'), { recursive: true });
});
afterEach(() => rm(root, { recursive: true }));

async function put(files: Record<string, string | Buffer>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), content);
  }
}
async function link(name: string, target: string): Promise<void> {
  await mkdir(path.dirname(path.join(root, name)), { recursive: true });
  await symlink(target, path.join(root, name));
}
const inventory = async () => validate(Inventory, await readInventory(root, async () => []));

test('a server of two sockets under UEFI with Secure Boot and a TPM', async () => {
  const dmi = 'sys/class/dmi/id';
  await put({
    [`${dmi}/product_uuid`]: '4C4C4544-0042-3510-8054-B7C04F503432\n',
    [`${dmi}/sys_vendor`]: 'Dell Inc.\n',
    [`${dmi}/product_name`]: 'PowerEdge R750\n',
    [`${dmi}/product_serial`]: 'ABC1234\n',
    [`${dmi}/bios_version`]: '1.12.1\n',
    [`${dmi}/bios_date`]: '09/13/2023\n',
    'sys/firmware/efi/fw_platform_size': '64\n',
    'sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c': Buffer.from([6, 0, 0, 0, 1]),
    'sys/class/tpm/tpm0/tpm_version_major': '2\n',
    'proc/meminfo': 'MemTotal:       16384 kB\nMemFree: 1 kB\n',
    'proc/cpuinfo': [0, 1, 2, 3]
      .map((n) => `processor\t: ${n}\nmodel name\t: Xeon\nphysical id\t: ${n % 2}\ncore id\t\t: 0\n`)
      .join('\n'),
  });
  expect((await inventory()).system).toMatchObject({
    uuid: '4c4c4544-0042-3510-8054-b7c04f503432',
    manufacturer: 'Dell Inc.',
    product: 'PowerEdge R750',
    serial: 'ABC1234',
    firmwareVersion: '1.12.1',
    firmwareDate: '09/13/2023',
    bootMode: 'uefi',
    secureBoot: true,
    tpm: '2.0',
    cpus: { model: 'Xeon', sockets: 2, cores: 2, threads: 4 },
    memoryBytes: 16 * 1024 * 1024,
  });
});

test('what the factory left as it was is not told', async () => {
  const dmi = 'sys/class/dmi/id';
  await put({
    [`${dmi}/product_uuid`]: '00000000-0000-0000-0000-000000000000',
    [`${dmi}/sys_vendor`]: 'To Be Filled By O.E.M.',
    [`${dmi}/product_serial`]: 'Default string',
  });
  const { system } = await inventory();
  expect(system).toMatchObject({ bootMode: 'bios', memoryBytes: 0 });
  for (const field of ['uuid', 'manufacturer', 'serial', 'secureBoot', 'tpm'])
    expect(system).not.toHaveProperty(field);
});

test('a member of a bond is told by its own address', async () => {
  await put({
    'sys/class/net/eth1/address': '52:54:00:00:00:01',
    'sys/class/net/eth1/bonding_slave/perm_hwaddr': '52:54:00:00:00:02',
    'sys/class/net/eth1/type': '1',
  });
  await link('sys/class/net/eth1/device', '../../../devices/pci0000:00/0000:00:04.0');
  expect((await inventory()).nics).toMatchObject([{ name: 'eth1', mac: '52:54:00:00:00:02' }]);
});

test('NICs with hardware are told, with their link and driver; bridges and the loopback are not', async () => {
  const device = '../../../devices/pci0000:00/0000:00:03.0';
  await put({
    'sys/class/net/eth0/address': '52:54:00:AA:BB:CC\n',
    'sys/class/net/eth0/type': '1\n',
    'sys/class/net/eth0/carrier': '1\n',
    'sys/class/net/eth0/speed': '25000\n',
    'sys/class/net/br0/address': '52:54:00:00:00:01\n',
    'sys/class/net/br0/type': '1\n',
    'sys/class/net/lo/type': '772\n',
  });
  await link('sys/class/net/eth0/device', device);
  await put({ 'sys/devices/pci0000:00/0000:00:03.0/vendor': '0x15b3\n' });
  await put({ 'sys/devices/pci0000:00/0000:00:03.0/device': '0x101d\n' });
  await link('sys/devices/pci0000:00/0000:00:03.0/driver', '../../../bus/pci/drivers/mlx5_core');
  expect((await inventory()).nics).toEqual([
    {
      name: 'eth0',
      mac: '52:54:00:aa:bb:cc',
      linkUp: true,
      driver: 'mlx5_core',
      pciAddress: '0000:00:03.0',
      vendorId: '0x15b3',
      deviceId: '0x101d',
      speedMbps: 25_000,
    },
  ]);
});

test('GPUs are the PCI devices of class 0x03', async () => {
  const pci = 'sys/bus/pci/devices';
  await put({
    [`${pci}/0000:17:00.0/class`]: '0x030200\n',
    [`${pci}/0000:17:00.0/vendor`]: '0x10de\n',
    [`${pci}/0000:17:00.0/device`]: '0x2330\n',
    [`${pci}/0000:00:1f.0/class`]: '0x060100\n',
  });
  expect((await inventory()).gpus).toEqual([
    { pciAddress: '0000:17:00.0', vendorId: '0x10de', deviceId: '0x2330' },
  ]);
});

test('this host can be read', async () => {
  const { system, disks } = validate(Inventory, await readInventory('/'));
  expect(system.cpus.threads).toBeGreaterThan(0);
  expect(system.memoryBytes).toBeGreaterThan(2 ** 28);
  expect(Array.isArray(disks)).toBe(true);
});

test('the readers of procfs take any text', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(readMemory(text)).toBeGreaterThanOrEqual(0);
      expect(readCpus(text).threads).toBeGreaterThanOrEqual(0);
    }),
  );
});
