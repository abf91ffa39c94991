import { expect, test } from 'vitest';
import { decideBoot } from '#agent/site/decide.ts';
import type { MachineFacts } from '#bootserver/machine.ts';
import type { BootEntry } from '#contract/bootEntry.ts';

const uuid = '00112233-4455-6677-8899-aabbccddeeff';
const machine: MachineFacts = {
  mac: '02:00:00:00:00:01',
  uuid,
  architecture: 'x86_64',
  firmware: 'uefi',
  address: '10.77.0.100',
  bootId: 'boot_1',
};
const entry: BootEntry = {
  entryId: 'be_1',
  siteId: 'site_1',
  nodeId: 'node_1',
  macs: [machine.mac],
  uuid,
  ramdisk: { ref: 'ramdisk@1', digests: { x86_64: '1'.repeat(64) } },
  issuedAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-01T04:00:00.000Z',
};

test('a machine without an entry boots its disk', () => {
  expect(decideBoot(machine, undefined)).toMatchObject({ kind: 'disk' });
});

const loader = { espGuid: '0b1c2d3e-4f50-8123-9abc-def012345678', path: '\\EFI\\BOOT\\BOOTX64.EFI' };

test('the disk that was deployed last is named, unless the ramdisk is booted', () => {
  expect(decideBoot(machine, undefined, loader)).toMatchObject({ kind: 'disk', loader });
  expect(decideBoot({ ...machine, architecture: 'aarch64' }, entry, loader)).toMatchObject({ loader });
  expect(decideBoot(machine, entry, loader)).not.toHaveProperty('loader');
});

test('another machine behind the same MAC is told nothing of the disk', () => {
  const turn = decideBoot({ ...machine, uuid: '99999999-4455-6677-8899-aabbccddeeff' }, entry, loader);
  expect(turn).toMatchObject({ kind: 'disk', alarm: true });
  expect(turn).not.toHaveProperty('loader');
});

test('a machine with an entry boots the ramdisk of its architecture', () => {
  expect(decideBoot(machine, entry)).toMatchObject({ kind: 'ramdisk', digest: '1'.repeat(64) });
});

test('without an image for its architecture it boots its disk, and the reason is said', () => {
  const turn = decideBoot({ ...machine, architecture: 'aarch64' }, entry);
  expect(turn).toEqual({ kind: 'disk', why: 'ramdisk@1 has no image for aarch64' });
});

test('another machine behind the same MAC is an alarm', () => {
  const turn = decideBoot({ ...machine, uuid: '99999999-4455-6677-8899-aabbccddeeff' }, entry);
  expect(turn).toMatchObject({ kind: 'disk', alarm: true });
});

test('a UUID whose first fields are in the other byte order is the same', () => {
  const turn = decideBoot({ ...machine, uuid: '33221100-5544-7766-8899-aabbccddeeff' }, entry);
  expect(turn.kind).toBe('ramdisk');
});

test.each([
  { machineUuid: undefined, entryUuid: uuid },
  { machineUuid: uuid, entryUuid: undefined },
])('a UUID that one side lacks proves nothing', ({ machineUuid, entryUuid }) => {
  const { uuid: _machine, ...bareMachine } = machine;
  const { uuid: _entry, ...bareEntry } = entry;
  const turn = decideBoot(
    machineUuid === undefined ? bareMachine : machine,
    entryUuid === undefined ? bareEntry : entry,
  );
  expect(turn.kind).toBe('ramdisk');
});
