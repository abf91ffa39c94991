import { defineProfile, type Profile } from '#contract/profiles.ts';
import type { RelayRequest } from '#contract/redfishRelay.ts';
import { relayConcern } from '#contract/steps.ts';
import type { WipeMode } from '#contract/wipe.ts';

/** The tenant that the shipped profiles are listed under. */
export const builtinTenant = 'builtin';

type Steps = NonNullable<Profile['steps']>;

const cleanUp: Steps = [{ use: 'boot.cleanUp' }];
const powerOff: Steps = [{ use: 'power.setPower', with: { action: 'off' } }];
const ensureRamdisk: Steps = [{ use: 'metal.ensureRamdisk' }];
const wipe = (mode: WipeMode): Steps => [{ use: 'disk.wipe', with: { mode } }];

function shipped(name: string, description: string, steps: Steps, cleanup?: Steps): Profile {
  const [id, version] = name.split('@');
  const document = { id, version: Number(version), target: 'metal', description, steps };
  return defineProfile(cleanup === undefined ? document : { ...document, cleanup });
}

/** A release that wipes by `mode`. */
export function releaseProfile(mode: WipeMode): Profile {
  const steps = [...ensureRamdisk, ...wipe(mode), ...powerOff];
  return shipped('metal-release@1', 'wipes a machine and makes it ready for the next deploy', steps, cleanUp);
}

/** How `metal.undeploy` wipes when nobody says how: so that the next tenant finds nothing. */
export const defaultReleaseMode: WipeMode = 'secure-erase';

const diagnose: Steps = [{ use: 'diag.dcgm', with: { level: 2 } }];

const identify: Steps = [{ use: 'power.getPower' }, { use: 'inspect.oob' }];
const rotate: Steps = [{ use: 'bmc.rotatePassword' }];

const evenIfItFails = (steps: Steps): Steps => steps.map((step) => ({ ...step, onFailure: 'continue' }));
const revoke: Steps = [{ use: 'metal.revokeIdentity' }];

/** The profiles that metal runs, one per state that a workflow drives; `-oob` where the machines never run `bcd`. */
export const builtinProfiles: readonly Profile[] = [
  shipped('metal-enroll@1', 'asks the BMC which machine this is', identify),
  shipped(
    'metal-inspect@2',
    'takes the inventory of a machine',
    [...ensureRamdisk, { use: 'inventory.refresh' }],
    cleanUp,
  ),
  shipped(
    'metal-commission@1',
    'tests and wipes a machine, and makes it ready',
    [...ensureRamdisk, ...diagnose, ...wipe('quick'), ...powerOff],
    cleanUp,
  ),
  releaseProfile(defaultReleaseMode),
  shipped(
    'metal-retire@1',
    'takes a machine out of service for good',
    [...evenIfItFails([...ensureRamdisk, ...wipe('crypto-erase'), ...powerOff]), ...revoke],
    cleanUp,
  ),
  shipped('metal-rescue@1', 'boots a deployed machine into its ramdisk', ensureRamdisk),
  shipped(
    'metal-unrescue@1',
    'starts a rescued machine from its disk again',
    [
      { use: 'management.setBootDevice', with: { device: 'disk', persistent: true } },
      { use: 'power.setPower', with: { action: 'cycle' } },
      { use: 'wait.agentJoined', with: { role: 'node' }, timeout: '20m' },
    ],
    cleanUp,
  ),
  shipped('metal-inspect-oob@1', 'asks the BMC which machine this is', [{ use: 'inspect.oob' }]),
  shipped('metal-commission-oob@1', 'powers a machine off and makes it ready', powerOff),
  shipped('metal-release-oob@1', 'takes the medium out of a machine and powers it off', [
    { use: 'media.eject' },
    ...powerOff,
  ]),
  shipped('metal-retire-oob@1', 'takes a machine out of service for good', [...powerOff, ...revoke]),
  shipped('remediate-reboot@1', 'restarts a deployed machine and waits for its agent', [
    { use: 'power.setPower', with: { action: 'graceful-restart' } },
    { use: 'wait.agentJoined', with: { role: 'node' }, timeout: '20m' },
  ]),
];

/** What a power call runs: a workflow of one step, like everything else that drives a machine. */
export function powerProfile(action: string): Profile {
  return shipped('metal-power@1', `${action} by the BMC`, [{ use: 'power.setPower', with: { action } }]);
}

/** What `nodes.redfish` runs. */
export function relayProfile(request: RelayRequest): Profile {
  const step = {
    use: 'driver.invoke',
    with: { concern: relayConcern, operation: 'redfish', input: request },
  };
  return shipped('metal-redfish@1', `${request.method} of ${request.path.slice(0, 200)}`, [
    { ...step, timeout: '2m' },
  ]);
}

/** An enrolment that changes the factory password first: before that some BMCs do nothing else. */
export const enrollWithPassword = shipped(
  'metal-enroll-password@1',
  'gives the BMC a password of its own and asks it which machine this is',
  [...rotate, ...identify],
);

/** What `nodes.rotateBmcPassword` runs. */
export const rotateProfile = shipped(
  'metal-rotate-bmc-password@1',
  "changes the password of a machine's BMC",
  rotate,
);
