import Type, { type Static } from 'typebox';
import type { BmcHealth } from './bmcHealth.ts';
import type { BmcLogEntry } from './bmcLog.ts';
import type { BootFact } from './bootFact.ts';
import type { ConsoleEventType } from './consoleRecording.ts';
import { type CachedImage, Digest } from './images.ts';
import type { RamdiskJoin, TrustLevel } from './join.ts';
import { NodeSpec } from './nodeSpec.ts';
import { Operation, type OperationProgress, type OperationResult, SecretRef } from './operations.ts';
import type { SeenMachine } from './seenMachine.ts';

/** The version of what agents and the centre say to each other; each side states its own. */
export const protocolVersion = 1;

/** `POST /v1/agent/poll`: answered at once when there is news, else after `waitSeconds` (at most 60). */
export const AgentPoll = Type.Object(
  {
    protocol: Type.Integer(),
    observedGeneration: Type.Integer({ minimum: 0 }),
    waitSeconds: Type.Number({ minimum: 0, maximum: 60 }),
    /** Operations that the agent has journaled: the centre stops handing these out. */
    taken: Type.Array(Type.String()),
    /** Of an installed OS: the kernel's id of this boot. */
    bootId: Type.Optional(Type.String({ maxLength: 128 })),
    /** The list of the centre's keys that the agent has (contract/trust.ts); with a newer one the poll is answered at once. */
    trustNumber: Type.Optional(Type.Integer({ minimum: 0 })),
    /** The same for the list of the revoked; 0 asks for a fresh one. */
    revocationsNumber: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { additionalProperties: false },
);
export type AgentPoll = Static<typeof AgentPoll>;

/** `spec`, the agent's own, is present when its generation is newer than the observed one. Operations are repeated until `taken`. */
export const AgentPollAnswer = Type.Object(
  {
    protocol: Type.Integer(),
    spec: Type.Optional(NodeSpec),
    operations: Type.Array(Operation),
    /** Operations to abandon where they can still be stopped. */
    cancelled: Type.Array(Type.String()),
    /** Operations of a site of which an operator says that what they ask for is done. */
    confirmed: Type.Optional(Type.Array(Type.String())),
    /** The centre's keys: a JWS by each of them. To be taken before the operations, which the newest one may have signed. */
    trust: Type.Optional(Type.Array(Type.String())),
    /** The list of the revoked, a JWS. */
    revocations: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
export type AgentPollAnswer = Static<typeof AgentPollAnswer>;

/** A fact that happened at a site, kept there until the centre has taken it. */
export type SiteEvent = { eventId: string; at: string; nodeId?: string; mac?: string; bootId?: string } & (
  | {
      /** `boot.advice` says what an operator could do about a machine that does not get on. */
      type:
        | 'boot.dhcp'
        | 'boot.tftp'
        | 'boot.script'
        | 'boot.http'
        | 'boot.disk'
        | 'boot.advice'
        /** A line of an installer's log, which only the site keeps. */
        | 'boot.log'
        | 'boot.other';
      text: string;
      fact?: BootFact;
    }
  /** `entry` is the boot entry that the ramdisk joined under, as the centre signed it. */
  | { type: 'agent.joined'; role: 'ramdisk'; trust: TrustLevel; join: RamdiskJoin; entry: string }
  | { type: 'agent.lost'; role: 'ramdisk' }
  | { type: 'machine.discovered'; uuid?: string }
  /** Something that an operator must look at, e.g. two machines that claim one boot token. */
  | { type: 'machine.alarm'; text: string; reason: 'contested' | 'other-host' }
  /** An operator is asked to do something with their hands, and it is done, or nobody waits for it any more. */
  | { type: 'operator.asked' | 'operator.done'; text: string }
  /** A BMC tells something else of its machine than before, or does not answer any more. */
  | { type: 'bmc.health'; text: string; health: BmcHealth }
  /** Something about how a BMC tells its events, e.g. that its table of subscriptions is full. */
  | { type: 'bmc.events'; text: string }
  /** An entry of a BMC's own event log; without one: what there is to say of the log. */
  | { type: 'bmc.log'; text: string; logEntry?: BmcLogEntry }
  /** What a machine's serial console printed, while somebody has it recorded. */
  | { type: ConsoleEventType; text: string; recordingId: string }
  /** The site's copy of an image was found damaged, and is not served any more. */
  | { type: 'image.damaged'; text: string; ref: string; digest: string }
);

/** How a site is configured, as far as the centre's own work goes by it. */
export const SiteSettings = Type.Object({
  /** Where BMCs read ISOs of the catalog: at the image's source, or in this site's cache. */
  mediaFrom: Type.Enum(['source', 'cache']),
});
export type SiteSettings = Static<typeof SiteSettings>;

/** `POST /v1/agent/report`. Results and events are kept by the site until this answers 200. */
export interface AgentReport {
  protocol: number;
  observedGeneration: number;
  results: OperationResult[];
  progress: OperationProgress[];
  events: SiteEvent[];
  /** Machines of the boot network that are new or changed, a few at a time. */
  machines?: SeenMachine[];
  /** The whole cache inventory, when it changed since the last report that was taken. */
  images?: CachedImage[];
  /** Beside the inventory. */
  settings?: SiteSettings;
}

/**
 * `POST /v1/machine/poll` at the site: answered at once when there is an operation that is not in `taken`, else after
 * `waitSeconds`. A session that the site does not know is 401: the machine joins again with the same keys.
 */
export const MachinePoll = Type.Object(
  { waitSeconds: Type.Number({ minimum: 0, maximum: 60 }), taken: Type.Array(Type.String()) },
  { additionalProperties: false },
);
export type MachinePoll = Static<typeof MachinePoll>;

/** The answer: the operations for this machine, each a JWS by the centre. */
export interface MachinePollAnswer {
  operations: { operationId: string; jws: string }[];
  cancelled: string[];
  /** The centre's keys, as in the answer to the join, when they have changed since the centre first had any. */
  trust?: string[];
}

/** `POST /v1/machine/report` at the site. */
export interface MachineReport {
  results: OperationResult[];
  progress: OperationProgress[];
}

/** `POST /v1/machine/secret` at the site: a secret that an operation for this machine refers to. 404 when none does. */
export const MachineSecretRequest = Type.Object({ ref: SecretRef }, { additionalProperties: false });
export type MachineSecretRequest = Static<typeof MachineSecretRequest>;
export const MachineSecretAnswer = Type.Object({ sealed: Type.String() }, { additionalProperties: false });
export type MachineSecretAnswer = Static<typeof MachineSecretAnswer>;

/** `POST /v1/machine/image` at the site: where this machine reads an image that an operation for it names. 404 when none does. */
export const MachineImageRequest = Type.Object({ digest: Digest }, { additionalProperties: false });
export type MachineImageRequest = Static<typeof MachineImageRequest>;
/** `url` is complete, or relative to the machine listener: then it is good for this machine alone, over that listener's TLS, and until `expiresAt`. */
export const MachineImageAnswer = Type.Object(
  { url: Type.String({ maxLength: 2048 }), expiresAt: Type.Optional(Type.String()) },
  { additionalProperties: false },
);
export type MachineImageAnswer = Static<typeof MachineImageAnswer>;
