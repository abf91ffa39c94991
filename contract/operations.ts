import Type, { type Static } from 'typebox';
import { DcgmLevel } from './dcgm.ts';
import { EfiLoader } from './efiLoader.ts';
import type { WireError } from './errors.ts';
import { httpsUrlPattern } from './httpsUrl.ts';
import { Compression, Digest, ImageFormat } from './images.ts';
import { RelayRequest } from './redfishRelay.ts';
import { SecretVersion } from './secrets.ts';
import { DiskHints, SetBootDevice, SetPower } from './steps.ts';
import { WipeMode } from './wipe.ts';

const closed = { additionalProperties: false };
const nothing = Type.Object({}, closed);

export const SecretRef = Type.String({ pattern: '^secret://[A-Za-z0-9._/-]{1,200}$' });

/**
 * A secret that an operation refers to. `sealed` is a compact JWE to the sealing key of the join that the operation is addressed to: the
 * site keeps it for the machine, so that no link to the centre is needed when that asks, and cannot read it.
 */
export const SealedSecret = Type.Object({ ref: SecretRef, sealed: Type.String() }, closed);
export type SealedSecret = Static<typeof SealedSecret>;

/** What the ramdisk is told to write, and where. Destructive: it reaches the ramdisk signed by the centre. */
export const DeployImage = Type.Object(
  {
    ref: Type.String(),
    digest: Digest,
    sizeBytes: Type.Optional(Type.Integer({ minimum: 0 })),
    format: ImageFormat,
    compression: Compression,
    /** Where to stream from when the site's cache does not know the digest. */
    sources: Type.Array(Type.String()),
    disk: Type.Optional(DiskHints),
    /**
     * The rendered first-boot document, installed into the OS: a reference, by which the ramdisk asks for it (`MachineSecretRequest`), and
     * the digest of what it is given then.
     */
    userData: Type.Optional(
      Type.Object(
        { kind: Type.Enum(['cloud-init', 'ignition', 'talos']), ref: SecretRef, sha256: Digest },
        closed,
      ),
    ),
  },
  closed,
);
export type DeployImage = Static<typeof DeployImage>;

const MediaUrl = Type.Object({ url: Type.String({ pattern: httpsUrlPattern }) }, closed);

/**
 * What virtual media mounts, from its URL or `cached`, an ISO that the site's cache is to hold; or, for a BMC without, the boot entry (compact
 * JWS) of one.
 */
const MediaInsert = Type.Union([
  MediaUrl,
  Type.Object({ cached: Type.Object({ ref: Type.String(), digest: Digest }, closed) }, closed),
  Type.Object({ entry: Type.String() }, closed),
]);

/** One operation of a driver, for what it is bound to. */
const DriverInvoke = Type.Object(
  {
    concern: Type.String(),
    driver: Type.String(),
    config: Type.Record(Type.String(), Type.Unknown()),
    operation: Type.String(),
    input: Type.Record(Type.String(), Type.Unknown()),
  },
  closed,
);

/**
 * Every operation that is handed out, who carries it out, and the schema of its input. `ramdisk-or-node`: the machine's agent, whichever it
 * is addressed to.
 */
export const operations = {
  'power.getPower': { target: 'site', input: nothing },
  'power.setPower': { target: 'site', input: SetPower },
  'management.setBootDevice': {
    target: 'site',
    input: SetBootDevice,
  },
  'management.clearBootDevice': { target: 'site', input: nothing },
  'management.getHealth': { target: 'site', input: nothing },
  'virtual-media.insertMedia': { target: 'site', input: MediaUrl },
  'virtual-media.ejectMedia': { target: 'site', input: nothing },
  'virtual-media.insertedMedia': { target: 'site', input: nothing },
  /** `entry` is a BootEntry signed by the centre (compact JWS). */
  'boot.prepareRamdisk': { target: 'site', input: Type.Object({ entry: Type.String() }, closed) },
  'boot.cleanUp': { target: 'site', input: nothing },
  'inspect.oob': { target: 'site', input: nothing },
  'media.insert': { target: 'site', input: MediaInsert },
  'media.eject': { target: 'site', input: nothing },
  'driver.invoke': { target: 'site', input: DriverInvoke },
  /** For support: one request to the BMC as it is. */
  'bmc.redfish': { target: 'site', input: RelayRequest },
  /** As whom the site logs in at the BMC, and how long a password may be there: `BmcAccount`. */
  'bmc.readAccount': { target: 'site', input: nothing },
  /** Gives the account that the site logs in as the password of `secret`, which the site's desired state names as the node's next one. */
  'bmc.setPassword': { target: 'site', input: Type.Object({ secret: SecretVersion }, closed) },
  'deploy.image': { target: 'ramdisk', input: DeployImage },
  'boot.kexec': { target: 'ramdisk', input: nothing },
  'disk.wipe': { target: 'ramdisk', input: Type.Object({ mode: WipeMode }, closed) },
  'inventory.refresh': { target: 'ramdisk-or-node', input: nothing },
  'diag.dcgm': { target: 'ramdisk-or-node', input: Type.Object({ level: DcgmLevel }, closed) },
} as const;

export type OperationAction = keyof typeof operations;
export type OperationInput<Action extends OperationAction> = Static<(typeof operations)[Action]['input']>;

/** Who carries an operation out: a site, or one of a machine's two agents. */
export type OperationTarget = 'site' | 'ramdisk' | 'node';

/** The actions that a site, a ramdisk or the agent of an installed OS carries out. */
export type ActionOf<Target extends OperationTarget> = {
  [Action in OperationAction]: Target extends Carriers<(typeof operations)[Action]['target']>
    ? Action
    : never;
}[OperationAction];
type Carriers<Target> = Target extends 'ramdisk-or-node' ? 'ramdisk' | 'node' : Target;

export function isActionOf<Target extends OperationTarget>(
  target: Target,
  action: string,
): action is ActionOf<Target> {
  if (!Object.hasOwn(operations, action)) return false;
  const carriedOutBy = operations[action as OperationAction].target;
  return carriedOutBy === 'ramdisk-or-node' ? target !== 'site' : carriedOutBy === target;
}

/**
 * One operation as the centre hands it to a site, or to the agent of an installed OS. It is safe to deliver twice: `operationId` is journaled
 * before the act. For a machine, `jws` is this same object without `jws` and `secrets`, signed by the centre: only that is believed there.
 */
export const Operation = Type.Object(
  {
    operationId: Type.String(),
    nodeId: Type.String(),
    /**
     * For a ramdisk: the thumbprint of the keys of the join that it is for. For an installed OS: the pin of the key that it joined by. No
     * other boot, and no other machine, carries it out.
     */
    machine: Type.Optional(Type.String()),
    target: Type.Enum(['site', 'ramdisk', 'node']),
    action: Type.String(),
    input: Type.Record(Type.String(), Type.Unknown()),
    /** ISO 8601; past it the operation is not begun. */
    expiresAt: Type.String(),
    jws: Type.Optional(Type.String()),
    secrets: Type.Optional(Type.Array(SealedSecret)),
  },
  closed,
);
export type Operation = Static<typeof Operation>;

/** How an operation ended. `unknown`: interrupted, and what it did could not be found out. */
export type OperationOutcome = 'succeeded' | 'failed' | 'unknown';

export interface OperationResult {
  operationId: string;
  outcome: OperationOutcome;
  /** What the action returned, e.g. `{ power: 'on' }`, `{ digest, device, bytesWritten }`. */
  result?: Record<string, unknown>;
  error?: WireError;
  finishedAt: string;
  /** For a machine's result: the same object without `jws`, signed by the key that its join has bound: a ramdisk's own, an OS's of its certificate. */
  jws?: string;
}

/** How far a running operation is; only the newest matters. Bytes are of the artifact as stored. */
export interface OperationProgress {
  operationId: string;
  phase: string;
  doneBytes?: number;
  totalBytes?: number;
  at: string;
}

/** What `deploy.image` returns. */
export const DeployResult = Type.Object(
  {
    /** sha256 of the artifact as stored, computed from the bytes that went to the disk. */
    digest: Digest,
    device: Type.String(),
    artifactBytes: Type.Integer({ minimum: 0 }),
    diskBytes: Type.Integer({ minimum: 0 }),
    source: Type.Enum(['site', 'origin']),
    seconds: Type.Number({ minimum: 0 }),
    /** The EFI boot entry that was put first, e.g. `Boot0003`. */
    bootEntry: Type.Optional(Type.String()),
    /** On a disk with a GPT and an EFI system partition: what UEFI firmware is to start, whichever firmware this machine has. */
    efiLoader: Type.Optional(EfiLoader),
    /** What was left undone without harm, a sentence each. */
    notes: Type.Optional(Type.Array(Type.String())),
  },
  closed,
);
export type DeployResult = Static<typeof DeployResult>;
