import { Agent, request } from 'undici';
import { type ErrorCode, errorStatus, fromWireError, RailheadError } from '#contract/errors.ts';
import { type JoinRequest, WellKnown } from '#contract/join.ts';
import { validate } from '#contract/validate.ts';

const timeouts = { headersTimeout: 20_000, bodyTimeout: 20_000, connect: { timeout: 10_000 } };

/** The centre's well-known document. The connection is not verified: nothing in the answer is believed before its pins hold. */
export async function fetchWellKnown(server: string): Promise<WellKnown> {
  const dispatcher = new Agent({ ...timeouts, connect: { ...timeouts.connect, rejectUnauthorized: false } });
  try {
    const answer = await exchange(server, () => request(`${server}/.well-known/bcd.json`, { dispatcher }));
    return validate(WellKnown, answer, 'DRIVER_ERROR');
  } finally {
    await dispatcher.close();
  }
}

/**
 * Sends the join message to a server whose certificate the pinned CA issued, and returns the signed answer.
 * @throws RailheadError as the centre answered; UNAVAILABLE when it cannot be reached; FORBIDDEN when it is another
 */
export async function postJoin(server: string, ca: string, message: JoinRequest): Promise<string> {
  const dispatcher = new Agent({ ...timeouts, connect: { ...timeouts.connect, ca } });
  try {
    const answer = await exchange(server, () =>
      request(`${server}/v1/join`, {
        dispatcher,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(message),
      }),
    );
    return signedAnswer(answer);
  } finally {
    await dispatcher.close();
  }
}

type Answer = Awaited<ReturnType<typeof request>>;

async function exchange(server: string, send: () => Promise<Answer>): Promise<unknown> {
  const answer = await send().catch((error: unknown) => {
    throw unreachable(server, error);
  });
  const body: unknown = await answer.body.json().catch(() => undefined);
  if (answer.statusCode !== 200) throw refusal(answer.statusCode, body);
  return body;
}

function signedAnswer(body: unknown): string {
  const jws = typeof body === 'object' && body !== null && 'response' in body ? body.response : undefined;
  if (typeof jws === 'string') return jws;
  throw new RailheadError('DRIVER_ERROR', 'the centre answered the join without a signed response', {
    reason: 'no-response',
  });
}

function refusal(status: number, body: unknown): RailheadError {
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
  if (isWireError(error)) return fromWireError(error);
  return new RailheadError('UNAVAILABLE', `the centre answered with status ${status}; try again later`, {
    reason: 'status',
    status,
  });
}

function isWireError(error: unknown): error is { code: ErrorCode; message: string } {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    'message' in error &&
    String(error.code) in errorStatus
  );
}

/** OpenSSL's words for a certificate that is fine at another time. */
const clockCodes = ['CERT_NOT_YET_VALID', 'CERT_HAS_EXPIRED'];
const identityCodes = [
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
];

function unreachable(server: string, error: unknown): RailheadError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  const details = { reason: code, server };
  if (clockCodes.includes(code))
    return new RailheadError(
      'FORBIDDEN',
      `the centre's certificate is not valid at this machine's time, ${new Date().toISOString()}: set the clock`,
      { ...details, reason: 'clock' },
      error,
    );
  if (identityCodes.includes(code))
    return new RailheadError(
      'FORBIDDEN',
      `${server} did not show a certificate of the pinned CA (${code})`,
      { ...details, reason: 'certificate' },
      error,
    );
  return new RailheadError(
    'UNAVAILABLE',
    `cannot reach ${server}: ${code}; check the address and the network`,
    details,
    error,
  );
}
