import { expect, test } from 'vitest';
import { diskSerial, machineIdentity } from '#rack/identity.ts';
import { planRack } from '#rack/plan.ts';
import { rackSpec } from '#rack/spec.ts';

const spec = rackSpec({
  prefix: 'lab',
  machines: [
    { name: 'a', firmware: 'uefi', disks: [{ size: '8G' }, { size: '4M', bus: 'sata' }] },
    { name: 'b', firmware: 'bios' },
  ],
});

test('each machine has files, a tap and a BMC address of its own', () => {
  const { namespaces, machines } = planRack(spec, '/srv/rack');
  expect(namespaces).toEqual({ site: 'lab-site', mgmt: 'lab-mgmt', centre: 'lab-centre' });
  expect(machines.map(({ tap, bmc }) => [tap, bmc.address])).toEqual([
    ['tap0', 'https://10.78.0.11'],
    ['tap1', 'https://10.78.0.12'],
  ]);
  expect(machines[0]?.disks).toMatchObject([
    { file: '/srv/rack/a/disk1.raw', sizeBytes: 8 * 2 ** 30, bus: 'virtio' },
    { file: '/srv/rack/a/disk2.raw', sizeBytes: 4 * 2 ** 20, bus: 'sata' },
  ]);
  expect(machines[0]?.bmc.password).not.toBe(machines[1]?.bmc.password);
});

test('the same prefix and name give the same identity, another gives another', () => {
  const identity = machineIdentity('lab', 'a');
  expect(machineIdentity('lab', 'a')).toEqual(identity);
  for (const other of [machineIdentity('lab', 'b'), machineIdentity('rh', 'a')]) {
    expect(other.mac).not.toBe(identity.mac);
    expect(other.uuid).not.toBe(identity.uuid);
    expect(other.serial).not.toBe(identity.serial);
  }
});

test('identities have the forms that firmware takes', () => {
  const { mac, uuid, serial } = machineIdentity('lab', 'a');
  expect(mac).toMatch(/^52:54:00(:[0-9a-f]{2}){3}$/);
  expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(diskSerial(serial, 9).length).toBeLessThanOrEqual(20);
});

test('a directory too deep for Unix sockets is refused before anything is made', () => {
  expect(() => planRack(spec, `/${'d'.repeat(95)}`)).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.stringContaining('--directory') }),
  );
  expect(() => planRack(spec, `/${'d'.repeat(90)}`)).not.toThrow();
});
