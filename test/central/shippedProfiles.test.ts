import { expect, test } from 'vitest';
import { openShippedProfiles } from '#central/profiles/shipped.ts';
import { planWorkflow } from '#central/workflows/plan.ts';
import { RailheadError } from '#contract/errors.ts';
import type { Profile } from '#contract/profiles.ts';

const shipped = openShippedProfiles();

/** A profile's steps in one line each: what, with what, and what else the table says. */
function lines(steps: Profile['steps'] = []): string[] {
  return steps.map(({ use, with: input = {}, timeout, onFailure, when }) =>
    [
      use,
      ...Object.values(input).map(String),
      ...[timeout, onFailure, when].filter((part) => part !== undefined),
    ].join(' '),
  );
}

test.each([
  ['metal-enroll@1', ['power.getPower', 'inspect.oob'], []],
  ['metal-inspect@2', ['metal.ensureRamdisk', 'inventory.refresh'], ['boot.cleanUp']],
  [
    'metal-commission@1',
    ['metal.ensureRamdisk', 'diag.dcgm 2', 'disk.wipe quick', 'power.setPower off'],
    ['boot.cleanUp'],
  ],
  [
    'metal-release@1',
    ['metal.ensureRamdisk', 'disk.wipe secure-erase', 'power.setPower off'],
    ['boot.cleanUp'],
  ],
  [
    'metal-retire@1',
    [
      'metal.ensureRamdisk continue',
      'disk.wipe crypto-erase continue',
      'power.setPower off continue',
      'metal.revokeIdentity',
    ],
    ['boot.cleanUp'],
  ],
  ['metal-rescue@1', ['metal.ensureRamdisk'], []],
  [
    'metal-unrescue@1',
    ['management.setBootDevice disk true', 'power.setPower cycle', 'wait.agentJoined node 20m'],
    ['boot.cleanUp'],
  ],
  ['metal-inspect-oob@1', ['inspect.oob'], []],
  ['metal-commission-oob@1', ['power.setPower off'], []],
  ['metal-release-oob@1', ['media.eject', 'power.setPower off'], []],
  ['metal-retire-oob@1', ['power.setPower off', 'metal.revokeIdentity'], []],
  ['remediate-reboot@1', ['power.setPower graceful-restart', 'wait.agentJoined node 20m'], []],
])('%s has the steps and the cleanup of the table', (name, steps, cleanup) => {
  const [id = '', version] = name.split('@');
  const profile = shipped.find(id, Number(version)) as Profile;
  expect(lines(profile.steps)).toEqual(steps);
  expect(lines(profile.cleanup)).toEqual(cleanup);
  expect(profile.acceptance).toBeUndefined();
  expect(planWorkflow(profile)).toHaveLength(steps.length + cleanup.length);
});

test('nothing else ships, and what ships is frozen', () => {
  expect(shipped.all).toHaveLength(12);
  expect(shipped.all.every((profile) => Object.isFrozen(profile) && Object.isFrozen(profile.steps))).toBe(
    true,
  );
});

test('profiles of whoever embeds the centre ship beside its own, checked, each version once', () => {
  const own = { id: 'acme-host', version: 2, target: 'metal' };
  expect(openShippedProfiles([own, { ...own, version: 10 }]).find('acme-host')?.version).toBe(10);
  for (const documents of [
    [own, own],
    [{ ...own, version: 0 }],
    [{ ...own, id: 'metal-rescue', version: 1 }],
  ])
    expect(() => openShippedProfiles(documents)).toThrow(RailheadError);
});
