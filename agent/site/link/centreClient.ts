import { Agent, request } from 'undici';
import { ignore } from '#base/errors.ts';
import { type AgentPoll, AgentPollAnswer, type AgentReport } from '#contract/agentWire.ts';
import { type ErrorCode, errorStatus, fromWireError, RailheadError } from '#contract/errors.ts';
import { validateMessage } from '#contract/protocol.ts';
import { SecretAnswer, type SecretRequest } from '#contract/secrets.ts';
import { checkCentre } from '../../join/centreIdentity.ts';
import type { Identity } from '../../join/identity.ts';
import type { KeptIdentity } from '../../join/keptIdentity.ts';
import { isFinal } from '../../join/renewing.ts';

/** The centre's agent door, over mutual TLS. */
export interface CentreClient {
  /** Answers when there is news, at the latest after `waitSeconds`. */
  poll(message: AgentPoll, signal: AbortSignal): Promise<AgentPollAnswer>;
  /** Resolves once the centre has taken the report. */
  report(message: AgentReport, signal: AbortSignal): Promise<void>;
  /** The secrets asked for, as far as this site's machines need them, each sealed to this site's key. */
  secrets(message: SecretRequest, signal: AbortSignal): Promise<SecretAnswer>;
  close(): Promise<void>;
}

/**
 * A client in the name of `kept`, whose new certificates it follows. Nothing is sent before the first call. When the centre says that
 * this agent is revoked, the identity is marked so.
 */
export function connectCentre(url: string, kept: KeptIdentity): CentreClient {
  let dispatcher = dispatcherFor(kept.current);
  const replaced = new Set<Agent>();
  const forget = kept.onChange((identity) => {
    replaced.add(dispatcher);
    // What it has in flight, a long poll perhaps, it brings to its end.
    dispatcher.close().catch(ignore);
    dispatcher = dispatcherFor(identity);
  });
  const post = async (path: string, message: object, timeoutMs: number, signal: AbortSignal) => {
    try {
      return await exchange(`${url}${path}`, { message, timeoutMs, signal, dispatcher });
    } catch (error) {
      if (isFinal(error)) await kept.markRevoked((error as Error).message);
      throw error;
    }
  };
  return {
    poll: async (message, signal) =>
      validateMessage(
        AgentPollAnswer,
        await post('/v1/agent/poll', message, (message.waitSeconds + 15) * 1000, signal),
        'DRIVER_ERROR',
      ),
    report: async (message, signal) => void (await post('/v1/agent/report', message, 30_000, signal)),
    secrets: async (message, signal) =>
      validateMessage(SecretAnswer, await post('/v1/agent/secrets', message, 30_000, signal), 'DRIVER_ERROR'),
    close: async () => {
      forget();
      await Promise.all([dispatcher, ...replaced].map((each) => each.destroy()));
    },
  };
}

function dispatcherFor(identity: Identity): Agent {
  return new Agent({
    connections: 3,
    pipelining: 1,
    connect: {
      ca: identity.ca,
      cert: identity.certificate,
      key: identity.privateKey,
      checkServerIdentity: checkCentre,
      timeout: 10_000,
    },
  });
}

interface Exchange {
  message: object;
  timeoutMs: number;
  signal: AbortSignal;
  dispatcher: Agent;
}

async function exchange(url: string, { message, timeoutMs, signal, dispatcher }: Exchange): Promise<unknown> {
  const answer = await request(url, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(message),
    headersTimeout: timeoutMs,
    bodyTimeout: 30_000,
    signal,
  });
  const body: unknown = await answer.body.json().catch(() => undefined);
  if (answer.statusCode === 200) return body;
  throw refusal(answer.statusCode, body);
}

function refusal(status: number, body: unknown): RailheadError {
  const error = (body as { error?: { code?: ErrorCode; message?: string } } | undefined)?.error;
  if (error?.code !== undefined && error.code in errorStatus)
    return fromWireError({ message: '', ...error, code: error.code });
  return new RailheadError('UNAVAILABLE', `the centre answered with status ${status}`, {
    reason: 'status',
    status,
  });
}
