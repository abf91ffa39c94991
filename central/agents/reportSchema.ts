import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { BmcHealth } from '#contract/bmcHealth.ts';
import { BmcLogEntry } from '#contract/bmcLog.ts';
import { errorStatus } from '#contract/errors.ts';
import { TrustLevel } from '#contract/join.ts';

/** The envelope of a report. Its items are checked one by one, so that one bad item cannot hold back the rest for ever. */
export const ReportEnvelope = Type.Object({
  protocol: Type.Integer(),
  observedGeneration: Type.Integer({ minimum: 0 }),
  results: Type.Array(Type.Unknown()),
  progress: Type.Array(Type.Unknown()),
  events: Type.Array(Type.Unknown()),
  machines: Type.Optional(Type.Array(Type.Unknown())),
  images: Type.Optional(Type.Array(Type.Unknown())),
  settings: Type.Optional(Type.Unknown()),
});
export type ReportEnvelope = Static<typeof ReportEnvelope>;

/** RFC 3339 in UTC as `toISOString` writes it, so that text order is time order. */
const Time = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' });
const Id = Type.String({ minLength: 1, maxLength: 128 });

const ReportedError = Type.Object({
  code: Type.Enum(Object.keys(errorStatus) as (keyof typeof errorStatus)[]),
  message: Type.String({ maxLength: 4096 }),
  details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});

export const ReportedResult = Type.Object({
  operationId: Id,
  outcome: Type.Enum(['succeeded', 'failed', 'unknown']),
  result: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  error: Type.Optional(ReportedError),
  finishedAt: Time,
  jws: Type.Optional(Type.String()),
});
export type ReportedResult = Static<typeof ReportedResult>;

export const ReportedProgress = Type.Object({
  operationId: Id,
  phase: Type.String({ maxLength: 128 }),
  doneBytes: Type.Optional(Type.Number({ minimum: 0 })),
  totalBytes: Type.Optional(Type.Number({ minimum: 0 })),
  at: Time,
});
export type ReportedProgress = Static<typeof ReportedProgress>;

export const ReportedEvent = Type.Object({
  eventId: Id,
  at: Time,
  type: Type.String({ minLength: 1, maxLength: 64 }),
  nodeId: Type.Optional(Id),
  mac: Type.Optional(Type.String({ maxLength: 64 })),
  bootId: Type.Optional(Type.String({ maxLength: 128 })),
  text: Type.Optional(Type.String({ maxLength: 4096 })),
  role: Type.Optional(Type.String()),
  trust: Type.Optional(TrustLevel),
  join: Type.Optional(Type.Unknown()),
  entry: Type.Optional(Type.String({ maxLength: 16_384 })),
  reason: Type.Optional(Type.Enum(['contested', 'other-host'])),
  uuid: Type.Optional(Type.String({ maxLength: 64 })),
  health: Type.Optional(BmcHealth),
  logEntry: Type.Optional(BmcLogEntry),
  recordingId: Type.Optional(Id),
});
export type ReportedEvent = Static<typeof ReportedEvent>;

export const ReportedImage = Type.Object({
  digest: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  ref: Type.String(),
  state: Type.Enum(['pulling', 'ready', 'failed', 'evicting']),
  sizeBytes: Type.Optional(Type.Number({ minimum: 0 })),
  receivedBytes: Type.Optional(Type.Number({ minimum: 0 })),
  error: Type.Optional(ReportedError),
  nextTryAt: Type.Optional(Type.String()),
});
export type ReportedImage = Static<typeof ReportedImage>;

/** Those of `items` that are what `schema` says, and how many are not. */
export function wellFormed<Schema extends Type.TSchema>(
  schema: Schema,
  items: readonly unknown[],
): { good: Static<Schema>[]; bad: unknown[] } {
  const good = items.filter((item): item is Static<Schema> => Value.Check(schema, item));
  return { good, bad: items.filter((item) => !Value.Check(schema, item)) };
}
