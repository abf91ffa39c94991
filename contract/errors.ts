/** Every error code that an API, an agent or a command answers with, and its HTTP status. */
export const errorStatus = {
  INVALID_INPUT: 400,
  INVALID_CONFIG: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  INVALID_STATE: 409,
  UNVERIFIED_WIPE: 409,
  UNSUPPORTED: 422,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  DRIVER_ERROR: 502,
  UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/**
 * What a command that failed says to its shell: scripts tell a mistake of theirs (2) from what is refused (3), not there (4), in
 * the way (5), beyond the machine (6) and worth another try (7).
 */
export const exitStatus: Readonly<Record<ErrorCode, number>> = {
  INTERNAL: 1,
  INVALID_INPUT: 2,
  INVALID_CONFIG: 2,
  UNAUTHENTICATED: 3,
  FORBIDDEN: 3,
  NOT_FOUND: 4,
  CONFLICT: 5,
  INVALID_STATE: 5,
  UNVERIFIED_WIPE: 5,
  UNSUPPORTED: 6,
  DRIVER_ERROR: 6,
  RATE_LIMITED: 7,
  UNAVAILABLE: 7,
};

/** `path` names the offending field; the rest are facts that a program can act on. */
export type ErrorDetails = { path?: string; reason?: string; [fact: string]: unknown };

/** How an error travels: in an answer's `error`, in an operation's result, in an event. */
export interface WireError {
  code: ErrorCode;
  message: string;
  details?: ErrorDetails;
}

/**
 * The one error class of the project. `message` is a sentence that says what to do next;
 * `code` and `details` are for programs.
 */
export class RailheadError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'RailheadError';
    this.code = code;
    this.details = details;
  }
}

/** The wire form of any thrown value. What is not ours becomes INTERNAL, without its text: that may hold secrets. */
export function toWireError(error: unknown): WireError {
  if (!(error instanceof RailheadError))
    return { code: 'INTERNAL', message: 'internal error; the log of the process has the cause' };
  const { code, message, details } = error;
  return Object.keys(details).length === 0 ? { code, message } : { code, message, details };
}

/** The error that a wire form stands for; an unknown code becomes INTERNAL. */
export function fromWireError(wire: WireError): RailheadError {
  const code = wire.code in errorStatus ? wire.code : 'INTERNAL';
  return new RailheadError(code, wire.message, wire.details ?? {});
}

export function hasCode(error: unknown, code: ErrorCode): error is RailheadError {
  return error instanceof RailheadError && error.code === code;
}
