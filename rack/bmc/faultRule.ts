import Type, { type Static } from 'typebox';

const closed = { additionalProperties: false };

/** What is wrong with a stream of events: it breaks after each, nothing ever comes, or nonsense comes between. */
export type StreamFault = 'cut' | 'silent' | 'garbage';

/**
 * One way in which a BMC misbehaves, as data: for which requests, and what is done to them. What a rule does not say is as the BMC has it.
 */
export const FaultRule = Type.Object(
  {
    /** The path without a trailing slash; `*` stands for any text. Every path when left out. */
    path: Type.Optional(Type.String({ maxLength: 512 })),
    method: Type.Optional(Type.Enum(['GET', 'POST', 'PATCH', 'DELETE'])),
    /** An answer in the BMC's place: the BMC has done nothing, unless `acted`. */
    status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    /** Of that answer: a text is sent as it is, anything else as JSON. */
    body: Type.Optional(Type.Unknown()),
    /** The BMC has carried the request out all the same. */
    acted: Type.Optional(Type.Boolean()),
    /** Laid over the BMC's own body; null takes a property away (RFC 7396). */
    merge: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    /** What is kept of a boot override, or with `nothing` of a new password, that is answered with success. */
    stores: Type.Optional(Type.Enum(['nothing', 'target'])),
    delayMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 600_000 })),
    /** The connection breaks: before the BMC acts, after it has acted, or in the middle of its answer. */
    cut: Type.Optional(Type.Enum(['before', 'after', 'middle'])),
    /** Of the stream that the request asks for. */
    stream: Type.Optional(Type.Enum(['cut', 'silent', 'garbage'])),
    /** For so many requests, then no more. */
    count: Type.Optional(Type.Integer({ minimum: 1 })),
    /** For this share of the requests, by chance. */
    share: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  },
  closed,
);
export type FaultRule = Static<typeof FaultRule>;

/** Whether a rule is about requests of this method to this path. */
export function isAbout(rule: FaultRule, method: string, path: string): boolean {
  if (rule.method !== undefined && rule.method !== method) return false;
  return rule.path === undefined || patternOf(rule.path).test(path);
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.split('*').map(RegExp.escape).join('.*')}$`);
}

/** `patch` laid over `body`, as RFC 7396 merges JSON: null takes a property away, objects are merged, all else replaces. */
export function merged(body: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: Record<string, unknown> = isObject(body) ? { ...body } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
