import { Agent, request } from 'undici';
import { fromWireError, RailheadError, type WireError } from '#contract/errors.ts';
import { type JoinRequest, type RenewRequest, WellKnown } from '#contract/join.ts';
import { validateMessage } from '#contract/protocol.ts';
import { checkCentre } from './centreIdentity.ts';

/** Bytes of an answer; whoever gives it may be anybody. Certificates and keys of a centre are a few KiB. */
const maxAnswerBytes = 256 * 1024;
const limits = {
  headersTimeout: 20_000,
  bodyTimeout: 20_000,
  maxResponseSize: maxAnswerBytes,
  connect: { timeout: 10_000 },
};

/** The centre's well-known document. The connection is not verified: nothing in the answer is believed before its pins hold. */
export async function fetchWellKnown(server: string): Promise<WellKnown> {
  const dispatcher = new Agent({ ...limits, connect: { ...limits.connect, rejectUnauthorized: false } });
  try {
    const answer = await exchange(server, () => request(`${server}/.well-known/bcd.json`, { dispatcher }));
    return validateMessage(WellKnown, parsed(answer), 'DRIVER_ERROR');
  } finally {
    await dispatcher.close();
  }
}

/**
 * What the centre's clock says, in milliseconds since the epoch, to within a second: from a server whose certificate is the centre's.
 * @throws RailheadError UNAVAILABLE, FORBIDDEN
 */
export async function fetchTime(server: string, ca: string): Promise<number> {
  return asCentre(ca, async (dispatcher) => {
    const answer = await sent(server, () => request(`${server}/.well-known/bcd.json`, { dispatcher }));
    await answer.body.dump();
    const time = Date.parse(String(answer.headers.date));
    if (!Number.isNaN(time)) return time;
    throw new RailheadError('UNAVAILABLE', `${server} tells no time; try again later`, {
      reason: 'time',
      server,
    });
  });
}

/**
 * Sends the join message to a server whose certificate the pinned CA issued, and returns the signed answer.
 * @throws RailheadError as the centre answered; UNAVAILABLE when it cannot be reached; FORBIDDEN when it is another
 */
export function postJoin(server: string, ca: string, message: JoinRequest): Promise<string> {
  return post(`${server}/v1/join`, server, ca, message);
}

/** The same for a renewal. */
export function postRenewal(server: string, ca: string, message: RenewRequest): Promise<string> {
  return post(`${server}/v1/renew`, server, ca, message);
}

function post(url: string, server: string, ca: string, message: object): Promise<string> {
  return asCentre(ca, (dispatcher) =>
    exchange(server, () =>
      request(url, {
        dispatcher,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(message),
      }),
    ),
  );
}

async function asCentre<Result>(ca: string, talk: (dispatcher: Agent) => Promise<Result>): Promise<Result> {
  const connect = { ...limits.connect, ca, checkServerIdentity: checkCentre };
  const dispatcher = new Agent({ ...limits, connect });
  try {
    return await talk(dispatcher);
  } finally {
    await dispatcher.close();
  }
}

type Answer = Awaited<ReturnType<typeof request>>;

/** The body of an answer with status 200. */
async function exchange(server: string, send: () => Promise<Answer>): Promise<string> {
  const answer = await sent(server, send);
  const text = await answer.body.text().catch((error: unknown) => {
    throw unreachable(server, error);
  });
  if (answer.statusCode !== 200) throw refusal(answer.statusCode, text);
  return text;
}

function sent(server: string, send: () => Promise<Answer>): Promise<Answer> {
  return send().catch((error: unknown) => {
    throw unreachable(server, error);
  });
}

function refusal(status: number, text: string): RailheadError {
  const error = (parsed(text) as { error?: WireError } | undefined)?.error;
  if (typeof error?.code === 'string' && typeof error.message === 'string') return fromWireError(error);
  const details = { reason: 'status', status };
  return new RailheadError(
    'UNAVAILABLE',
    `the centre answered with status ${status}; try again later`,
    details,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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
