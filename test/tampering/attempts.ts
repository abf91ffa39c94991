import Type from 'typebox';
import { sealText } from '#base/jwe.ts';
import { publicKeyFromJwk } from '#base/jws.ts';
import { ReportedEvent, ReportedResult } from '#central/agents/reportSchema.ts';
import { MachineSecretAnswer } from '#contract/agentWire.ts';
import { BootEntry } from '#contract/bootEntry.ts';
import { RamdiskJoin, RamdiskJoinAnswer } from '#contract/join.ts';
import { DeployImage, DeployResult, Operation } from '#contract/operations.ts';
import { changed, fieldsOf, withPayload } from './fields.ts';
import type { Tampering } from './site.ts';

/** Who has to notice a change, and by which name. `path` is there where the refusal names the field. */
export type Caught =
  /** The ramdisk does not believe the site's answer to its join, and says so. */
  | { by: 'machine'; says: RegExp }
  /** The ramdisk refuses the operation by a result that it signs. */
  | { by: 'ramdisk'; reason: string }
  /** The centre does not believe a join. */
  | { by: 'centre'; reason: string }
  /** The centre does not believe a result. */
  | { by: 'results'; path: string };

/** One field that a site changes on the way, and how that is to come out. */
export interface Attempt {
  field: string;
  tampering: Tampering;
  caught: Caught;
}

const { jws: _jws, secrets: _secrets, ...orderedFields } = Operation.properties;
/** What the centre signs for a machine; what its input refers to travels beside it. */
const Ordered = Type.Object({ ...orderedFields, input: DeployImage });
/** What a machine signs for the centre, and what the site passes on beside it. */
const Told = Type.Object({ ...ReportedResult.properties, result: DeployResult });

/**
 * What a site says by its own word, so that nobody could contradict it, and why that is harmless. A field of these messages that
 * is neither here nor caught fails the tests: whoever adds one has to decide.
 */
const ownWord = {
  'answer.session': "opens the site's own door alone",
  'answer.trust': 'keys that no key which the machine knows vouches for change nothing',
  'answer.imagesUrl': 'bytes from anywhere are checked by the digest that the centre signed',
  'event.eventId': "names the site's report; a second one of that name is ignored",
  'event.type': 'what is no join is believed to be none: a site can withhold one',
  'event.role': 'the same',
  'event.bootId': "the site's name for a boot, for its timeline",
  'event.uuid': 'of discoveries, not of joins: the joined one is signed',
  'event.text': 'words of a timeline',
  'event.reason': 'of alarms, not of joins',
  'event.health.health': 'what the site heard from a BMC: shown to operators, and decides nothing',
  'event.health.power': 'the same',
  'event.health.events': 'the same',
  'event.health.faults': 'the same',
  'event.logEntry.id': "what the site read in a BMC's log: a line of a timeline, and decides nothing",
  'event.logEntry.severity': 'the same',
  'event.logEntry.message': 'the same',
  'event.logEntry.sensor': 'the same',
  'event.logEntry.created': 'the same',
  'event.recordingId':
    'which recording of a console its words belong to: shown to operators, and ends no more than that',
} as const;

const isOwnWord = (field: string) => Object.hasOwn(ownWord, field);

/**
 * Every field of every message between a machine and the centre, taken from the contract. `withSecrets`: the operation refers to user
 * data.
 */
export function attempts(otherNode: () => string, { withSecrets }: { withSecrets: boolean }): Attempt[] {
  return [
    ...fieldsOf(Ordered).map((field) => orderAttempt(field)),
    relayedId,
    ...(withSecrets ? fieldsOf(MachineSecretAnswer).map((field) => secretAttempt(field)) : []),
    ...(withSecrets ? [sealedByTheSite] : []),
    ...fieldsOf(BootEntry).map((field) => entryAttempt(field)),
    ...answerAttempts(otherNode),
    ...fieldsOf(RamdiskJoin).map((field) => joinAttempt(field)),
    ...eventAttempts(otherNode),
    ...fieldsOf(Told).map((field) => resultAttempt(field)),
    strippedSignature,
  ];
}

function orderAttempt(field: string): Attempt {
  const change = (document: object) => changed(document, field, Ordered);
  return {
    field: `operation.${field}`,
    tampering: { handed: (handed) => ({ ...handed, jws: withPayload(handed.jws, change) }) },
    caught: { by: 'ramdisk', reason: 'signature' },
  };
}

const relayedId: Attempt = {
  field: 'relayed.operationId',
  tampering: { handed: (handed) => ({ ...handed, operationId: 'op_of_the_site' }) },
  caught: { by: 'machine', says: /^operation op_of_the_site failed: .*another id inside/ },
};

function secretAttempt(field: string): Attempt {
  return {
    field: `secret.${field}`,
    tampering: { secret: (answer) => changed(answer, field, MachineSecretAnswer) },
    caught: { by: 'ramdisk', reason: 'sealed' },
  };
}

/** The machine's sealing key is public: a site can seal to it as well as the centre can. */
const sealedByTheSite: Attempt = {
  field: "secret.sealed, a document of the site's own",
  tampering: {
    secret: async (_answer, join) => ({
      sealed: await sealText('railhead-user-data', '#!/bin/sh', publicKeyFromJwk(join.sealingKey)),
    }),
  },
  caught: { by: 'ramdisk', reason: 'sealed' },
};

function entryAttempt(field: string): Attempt {
  const change = (document: object) => changed(document, field, BootEntry);
  return {
    field: `entry.${field}`,
    tampering: { entry: (jws) => withPayload(jws, change) },
    caught: { by: 'machine', says: /the site's boot entry is refused: it is not signed/ },
  };
}

function answerAttempts(otherNode: () => string): Attempt[] {
  const says = {
    'answer.protocol': /join failed, trying again: the other side speaks protocol/,
    'answer.nodeId': /boot entry is refused: it is for node/,
    'answer.siteId': /boot entry is refused: it is for site/,
    'answer.entry': /boot entry is refused: it is not signed/,
  };
  return namedFields('answer', fieldsOf(RamdiskJoinAnswer), says).map(([field, pattern]) => ({
    field: `answer.${field}`,
    tampering: {
      answer: (answer) =>
        field === 'nodeId' ? { ...answer, nodeId: otherNode() } : changed(answer, field, RamdiskJoinAnswer),
    },
    caught: { by: 'machine', says: pattern },
  }));
}

function joinAttempt(field: string): Attempt {
  return {
    field: `join.${field}`,
    tampering: { event: (event) => ({ ...event, join: changed(event.join, field, RamdiskJoin) }) },
    caught: { by: 'centre', reason: 'proof' },
  };
}

function eventAttempts(otherNode: () => string): Attempt[] {
  const reasons = {
    'event.nodeId': 'no-entry',
    'event.mac': 'other-mac',
    'event.trust': 'trust-level',
    'event.entry': 'no-entry',
  };
  const fields = fieldsOf(ReportedEvent).filter((field) => field !== 'join' && field !== 'at');
  const attempts = namedFields('event', fields, reasons).map(
    ([field, reason]): Attempt => ({
      field: `event.${field}`,
      tampering: {
        event: (event) =>
          field === 'nodeId' ? { ...event, nodeId: otherNode() } : changed(event, field, ReportedEvent),
      },
      caught: { by: 'centre', reason },
    }),
  );
  return [...attempts, ...timeAttempts];
}

/** A site may say that a join was earlier as well as later. */
const timeAttempts = [
  ['in the past', '2001-01-01T00:00:00.000Z'],
  ['before its boot entry was made', new Date(Date.now() - 2 * 3_600_000).toISOString()],
  ['to come', new Date(Date.now() + 2 * 3_600_000).toISOString()],
  ['after its boot entry ended', '2100-01-01T00:00:00.000Z'],
].map(
  ([when, at = '']): Attempt => ({
    field: `event.at, ${when}`,
    tampering: { event: (event) => ({ ...event, at }) },
    caught: { by: 'centre', reason: 'no-entry' },
  }),
);

function resultAttempt(field: string): Attempt {
  const [name = field] = field.split('.');
  // A signed result of another operation is no result of this one: its id is what was signed.
  const tampering: Tampering =
    field === 'operationId'
      ? {
          result: ({ jws = '', ...told }) => ({
            ...told,
            jws: withPayload(jws, (signed) => ({ ...signed, operationId: 'op_other' })),
          }),
        }
      : { result: (result) => changed(result, field, Told) };
  const path = field === 'operationId' ? 'jws' : name;
  return { field: `result.${field}`, tampering, caught: { by: 'results', path } };
}

const strippedSignature: Attempt = {
  field: 'result without jws',
  tampering: { result: ({ jws: _signature, ...told }) => told },
  caught: { by: 'results', path: 'jws' },
};

/** The fields with what is to come of them. @throws Error for a field that is neither caught nor the site's own word */
function namedFields<Outcome>(
  message: string,
  fields: readonly string[],
  outcomes: Readonly<Record<string, Outcome>>,
): [string, Outcome][] {
  return fields.flatMap((field) => {
    const name = `${message}.${field}`;
    const outcome = outcomes[name];
    if (outcome !== undefined) return [[field, outcome] as [string, Outcome]];
    if (isOwnWord(name)) return [];
    throw new Error(`${name} is new: say in test/tampering/attempts.ts who notices when a site changes it`);
  });
}
