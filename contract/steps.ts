import Type, { type Static, type TSchema } from 'typebox';

/** Where a step's operation is carried out. */
export type StepPlace = 'central' | 'site' | 'ramdisk' | 'node' | 'ramdisk-or-node';

interface StepDefinition {
  readonly runs: StepPlace;
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
export const AgentRole = Type.Enum(['node', 'ramdisk', 'site']);
export type AgentRole = Static<typeof AgentRole>;

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

/** Every step a profile can use: where it runs, what `with` takes, how long it may last. */
export const steps = {
  'power.getPower': { runs: 'site', input: nothing, timeout: '2m' },
  'power.setPower': { runs: 'site', input: fields({ action: PowerAction }), timeout: '5m' },
  'management.setBootDevice': {
    runs: 'site',
    input: fields({ device: BootDevice, persistent: Type.Optional(Type.Boolean()) }),
    timeout: '2m',
  },
  'boot.prepareRamdisk': { runs: 'site', input: nothing, timeout: '2m' },
  'boot.cleanUp': { runs: 'site', input: nothing, timeout: '2m' },
  'deploy.deploy': {
    runs: 'ramdisk',
    input: fields({ image: Type.Optional(Type.String({ minLength: 1 })), disk: Type.Optional(DiskHints) }),
    timeout: '1h',
  },
  'boot.kexec': { runs: 'ramdisk', input: nothing, timeout: '15m', await: 'rejoin' },
  'userdata.render': { runs: 'central', input: nothing, timeout: '2m' },
  'wait.agentJoined': { runs: 'central', input: fields({ role: AgentRole }), timeout: '15m' },
} as const satisfies Record<string, StepDefinition>;

export type StepName = keyof typeof steps;

export function isStepName(name: string): name is StepName {
  return Object.hasOwn(steps, name);
}

/** The static type of a step's `with`. */
export type StepInput<Name extends StepName> = Static<(typeof steps)[Name]['input']>;
