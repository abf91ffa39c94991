import { systemCode } from '#base/errors.ts';
import { errorStatus, RailheadError, type WireError } from '#contract/errors.ts';

/** What a method of the API answered. */
export type ApiAnswer = { data: unknown } | { error: WireError };

/**
 * Reads the body of an answer.
 * @throws RailheadError UNAVAILABLE when it is not what a centre answers: a proxy's page, another program
 */
export function readAnswer(origin: string, status: number, text: string): ApiAnswer {
  const body = parsed(text);
  if (isObject(body) && isObject(body.data)) return { data: body.data };
  if (isObject(body) && isWireError(body.error)) return { error: body.error };
  throw new RailheadError(
    'UNAVAILABLE',
    `${origin} does not answer as a centre's API does (HTTP ${status}): check --server`,
    { reason: 'not-a-centre', status },
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isWireError(value: unknown): value is WireError {
  return isObject(value) && String(value.code) in errorStatus && typeof value.message === 'string';
}

/** OpenSSL's and Node's words for a certificate that cannot be verified. */
const certificateCodes =
  /^(SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_|CERT_|ERR_TLS_CERT_ALTNAME_INVALID)/;

/** Why no answer came, and what to do. */
export function unanswered(origin: string, error: unknown): RailheadError {
  const code = systemCode(error) ?? '';
  const why = error instanceof Error ? error.message || code : String(error);
  const remedy = certificateCodes.test(code)
    ? 'name the CA of its certificate by --ca or RAILHEAD_CA, and the server as its certificate does'
    : 'is the centre running?';
  return new RailheadError('UNAVAILABLE', `no answer from ${origin} (${why}): ${remedy}`, {}, error);
}
