import Type, { type Static, type TSchema } from 'typebox';
import { DcgmLevel } from './dcgm.ts';
import { durationPattern } from './durations.ts';
import { httpsUrlPattern } from './httpsUrl.ts';
import { ImageRef } from './images.ts';
import { WipeMode } from './wipe.ts';

/** Where a step's operation is carried out. */
export type StepPlace = 'central' | 'site' | 'ramdisk' | 'node';

interface StepDefinition {
  /** `ramdisk-or-node`: on whichever agent of the machine is connected, unless the profile's `on` says which. */
  readonly runs: StepPlace | 'ramdisk-or-node';
  /** Schema of `with`. */
  readonly input: TSchema;
  /** Default time-out as a duration (`2m`). */
  readonly timeout: string;
  readonly await?: 'rejoin';
}

const nothing = Type.Object({}, { additionalProperties: false });
const fields = <Properties extends Record<string, TSchema>>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });

export const PowerAction = Type.Enum([
  'on',
  'off',
  'graceful-off',
  'reset',
  'graceful-restart',
  'cycle',
  'nmi',
]);
export type PowerAction = Static<typeof PowerAction>;
export const BootDevice = Type.Enum(['pxe', 'http', 'disk', 'cd']);
export type BootDevice = Static<typeof BootDevice>;
/** How firmware boots: only where a machine can do both, and somebody minds. */
export const BootMode = Type.Enum(['uefi', 'legacy']);
export type BootMode = Static<typeof BootMode>;
export const AgentRole = Type.Enum(['node', 'ramdisk', 'site']);
export type AgentRole = Static<typeof AgentRole>;

/** What a driver is for: `power`, `management`, `virtual-media`, `boot`, `deploy`, `inspect` and the like. */
export const concernPattern = '^[a-z][a-z0-9-]{0,63}$';

/** The concern of support's requests: `nodes.redfish` alone has it, since it has an action of its own. */
export const relayConcern = 'relay';

/**
 * Which disk to write. With hints exactly one disk must match all of them; without, exactly one candidate must
 * exist. `name` is the kernel's (`sda`, `/dev/sda`), `sizeBytes` exact.
 */
export const DiskHints = fields({
  serial: Type.Optional(Type.String({ minLength: 1 })),
  wwn: Type.Optional(Type.String({ minLength: 1 })),
  name: Type.Optional(Type.String({ minLength: 1 })),
  sizeBytes: Type.Optional(Type.Integer({ minimum: 1 })),
});
export type DiskHints = Static<typeof DiskHints>;

/** `forceAfter`: how long an OS may take to obey `graceful-off` or `graceful-restart` before it is switched off. */
export const SetPower = fields({
  action: PowerAction,
  forceAfter: Type.Optional(Type.String({ pattern: durationPattern, maxLength: 16 })),
});

export const SetBootDevice = fields({
  device: BootDevice,
  persistent: Type.Optional(Type.Boolean()),
  mode: Type.Optional(BootMode),
});

/** Every step a profile can use: where it runs, what `with` takes, how long it may last. */
export const steps = {
  'power.getPower': { runs: 'site', input: nothing, timeout: '2m' },
  'power.setPower': { runs: 'site', input: SetPower, timeout: '5m' },
  'management.setBootDevice': {
    runs: 'site',
    input: SetBootDevice,
    timeout: '2m',
  },
  'inspect.oob': { runs: 'site', input: nothing, timeout: '5m' },
  /** Exactly one of: a URL, the `use` of an earlier step that returned a `url`, an iso of the catalog. */
  'media.insert': {
    runs: 'site',
    input: Type.Object(
      {
        url: Type.Optional(Type.String({ pattern: httpsUrlPattern, maxLength: 2048 })),
        fromStep: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
        image: Type.Optional(ImageRef),
      },
      { additionalProperties: false, minProperties: 1, maxProperties: 1 },
    ),
    timeout: '30m',
  },
  'media.eject': { runs: 'site', input: nothing, timeout: '5m' },
  /** Of shipped profiles alone: who may have it done is said by an action of its own. */
  'bmc.rotatePassword': { runs: 'site', input: nothing, timeout: '5m' },
  'boot.prepareRamdisk': { runs: 'site', input: nothing, timeout: '2m' },
  'boot.cleanUp': { runs: 'site', input: nothing, timeout: '2m' },
  'metal.ensureRamdisk': { runs: 'central', input: nothing, timeout: '20m' },
  'metal.revokeIdentity': { runs: 'central', input: nothing, timeout: '2m' },
  'inventory.refresh': { runs: 'ramdisk-or-node', input: nothing, timeout: '10m' },
  'diag.dcgm': {
    runs: 'ramdisk-or-node',
    input: fields({ level: DcgmLevel }),
    timeout: '1h',
  },
  'disk.wipe': { runs: 'ramdisk', input: fields({ mode: WipeMode }), timeout: '6h' },
  'deploy.deploy': {
    runs: 'ramdisk',
    input: fields({ image: Type.Optional(ImageRef), disk: Type.Optional(DiskHints) }),
    timeout: '1h',
  },
  'boot.kexec': { runs: 'ramdisk', input: nothing, timeout: '15m', await: 'rejoin' },
  'userdata.render': { runs: 'central', input: nothing, timeout: '2m' },
  'wait.agentJoined': { runs: 'central', input: fields({ role: AgentRole }), timeout: '15m' },
  'wait.generationObserved': { runs: 'central', input: nothing, timeout: '10m' },
  /** One operation of the driver that the profile, else the node, binds to `concern`. */
  'driver.invoke': {
    runs: 'site',
    input: fields({
      concern: Type.String({ pattern: concernPattern }),
      operation: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9]{0,63}$' }),
      input: Type.Record(Type.String(), Type.Unknown(), { default: {} }),
    }),
    timeout: '10m',
  },
} as const satisfies Record<string, StepDefinition>;

export type StepName = keyof typeof steps;

export function isStepName(name: string): name is StepName {
  return Object.hasOwn(steps, name);
}

/** The static type of a step's `with`. */
export type StepInput<Name extends StepName> = Static<(typeof steps)[Name]['input']>;
