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
const leasedTo = machine.mac;
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
  expect(decideBoot(machine, { leasedTo })).toMatchObject({ kind: 'disk' });
});

const loader = { espGuid: '0b1c2d3e-4f50-8123-9abc-def012345678', path: '\\EFI\\BOOT\\BOOTX64.EFI' };

test('the disk that was deployed last is named, unless the ramdisk is booted', () => {
  expect(decideBoot(machine, { loader, leasedTo })).toMatchObject({ kind: 'disk', loader });
  expect(decideBoot({ ...machine, architecture: 'aarch64' }, { entry, loader, leasedTo })).toMatchObject({
    loader,
  });
  expect(decideBoot(machine, { entry, loader, leasedTo })).not.toHaveProperty('loader');
});

test('who only names a MAC is told nothing of its disk, with an entry or without', () => {
  for (const known of [{ loader }, { loader, entry }, { loader, leasedTo: '02:00:00:00:00:66' }])
    expect(decideBoot(machine, known)).not.toHaveProperty('loader');
});

test('another machine behind the same MAC is told nothing of the disk', () => {
  const turn = decideBoot(
    { ...machine, uuid: '99999999-4455-6677-8899-aabbccddeeff' },
    { entry, loader, leasedTo },
  );
  expect(turn).toMatchObject({ kind: 'disk', alarm: true });
  expect(turn).not.toHaveProperty('loader');
});

test('a machine with an entry boots the ramdisk of its architecture', () => {
  expect(decideBoot(machine, { entry, leasedTo })).toMatchObject({ kind: 'ramdisk', digest: '1'.repeat(64) });
});

const { ramdisk: _ramdisk, ...bound } = entry;
const isoEntry: BootEntry = { ...bound, iso: { ref: 'installer@1', digest: '2'.repeat(64) } };

test.each(['x86_64', 'aarch64'] as const)(
  'a machine with an ISO entry boots the ISO (%s)',
  (architecture) => {
    const turn = decideBoot({ ...machine, architecture }, { entry: isoEntry, loader, leasedTo });
    expect(turn).toEqual({ kind: 'iso', digest: '2'.repeat(64) });
  },
);

test.each([entry, isoEntry])('an entry for a VLAN is served in that VLAN alone (%#)', (kind) => {
  const known = { entry: { ...kind, vlan: 42 }, leasedTo };
  for (const vlan of [undefined, 41])
    expect(decideBoot({ ...machine, ...(vlan !== undefined && { vlan }) }, known)).toEqual({
      kind: 'vlan',
      vlan: 42,
    });
  expect(decideBoot({ ...machine, vlan: 42 }, known)).toHaveProperty('digest');
});

test('nobody else is told of the VLAN', () => {
  const known = { entry: { ...entry, vlan: 42 }, leasedTo: '02:00:00:00:00:66' };
  expect(decideBoot(machine, known)).toMatchObject({ kind: 'disk', alarm: true });
});

test('a withdrawn ISO boots nobody', () => {
  const known = { entry: isoEntry, leasedTo, isWithdrawn: (digest: string) => digest === '2'.repeat(64) };
  expect(decideBoot(machine, known)).toEqual({
    kind: 'disk',
    why: 'the ISO of its boot entry, installer@1, is withdrawn',
  });
});

test.each([
  ['another machine', { ...machine, uuid: '99999999-4455-6677-8899-aabbccddeeff' }, leasedTo],
  ['another host', machine, '02:00:00:00:00:66'],
])('%s does not get the ISO either, and it is an alarm', (_who, asking, holder) => {
  const turn = decideBoot(asking, { entry: isoEntry, leasedTo: holder });
  expect(turn).toMatchObject({ kind: 'disk', alarm: true });
});

test('without an image for its architecture it boots its disk, and the reason is said', () => {
  const turn = decideBoot({ ...machine, architecture: 'aarch64' }, { entry, leasedTo });
  expect(turn).toEqual({ kind: 'disk', why: 'ramdisk@1 has no image for aarch64' });
});

test('another machine behind the same MAC is an alarm', () => {
  const turn = decideBoot({ ...machine, uuid: '99999999-4455-6677-8899-aabbccddeeff' }, { entry, leasedTo });
  expect(turn).toMatchObject({ kind: 'disk', alarm: true });
});

test('case 26: a UUID whose first fields are in the other byte order is the same', () => {
  const turn = decideBoot({ ...machine, uuid: '33221100-5544-7766-8899-aabbccddeeff' }, { entry, leasedTo });
  expect(turn.kind).toBe('ramdisk');
});

test.each([
  { machineUuid: undefined, entryUuid: uuid },
  { machineUuid: uuid, entryUuid: undefined },
])('a UUID that one side lacks proves nothing', ({ machineUuid, entryUuid }) => {
  const { uuid: _machine, ...bareMachine } = machine;
  const { uuid: _entry, ...bareEntry } = entry;
  const turn = decideBoot(machineUuid === undefined ? bareMachine : machine, {
    entry: entryUuid === undefined ? bareEntry : entry,
    leasedTo,
  });
  expect(turn.kind).toBe('ramdisk');
});

test.each([undefined, '02:00:00:00:00:66'])(
  'whoever asks from an address leased to %s gets no token and is told of no disk, and it is an alarm where there is an entry',
  (holder) => {
    const turn = decideBoot(machine, { entry, loader, leasedTo: holder });
    expect(turn).toMatchObject({ kind: 'disk', alarm: true });
    expect(turn).not.toHaveProperty('loader');
  },
);
