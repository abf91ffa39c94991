import type { PeerCertificate } from 'node:tls';
import { Agent, request } from 'undici';
import {
  type ErrorCode,
  errorStatus,
  fromWireError,
  RailheadError,
  type WireError,
} from '#contract/errors.ts';
import type { Located } from '../stream/source.ts';
import { checkSite, siteOfCertificate } from './identity.ts';

/** Requests to one site's machine listener. */
export interface SiteClient {
  /**
   * Posts JSON and returns the JSON answered.
   * @throws RailheadError with the site's own error, or UNAVAILABLE when the site cannot be reached or trusted
   */
  post(path: string, body: unknown, options?: PostOptions): Promise<unknown>;
  /**
   * Where the site has something of its own, and the connection that it is to be read over: to a URL of the machine listener one that trusts as
   * `post` does; to any other none in particular.
   */
  located(url: string): Located;
  /** The site that the newest certificate named. */
  readonly site: string | undefined;
  /** From now on only this site's certificate is accepted. */
  expectSite(siteId: string): void;
  close(): Promise<void>;
}

export interface PostOptions {
  session?: string;
  timeoutMs?: number;
  signal?: AbortSignal;
}

const maxAnswerBytes = 8 * 1024 * 1024;
/** A download that brings nothing for so long is given up. */
const idleMs = 30_000;

/**
 * A client that trusts certificates of `ca` alone, by their site URI and not by host name. `from` is the address of this machine that it
 * speaks from; without it the routes decide.
 */
export function connectSite(url: string, ca: string, from?: string): SiteClient {
  let expected: string | undefined;
  let site: string | undefined;
  const common = {
    ...(from !== undefined && { localAddress: from }),
    connect: {
      ca,
      minVersion: 'TLSv1.3',
      timeout: 10_000,
      maxCachedSessions: 0,
      checkServerIdentity: (_host: string, certificate: PeerCertificate) => {
        site = siteOfCertificate(certificate);
        return checkSite(certificate, expected);
      },
    },
  } as const;
  const dispatcher = new Agent({ ...common, connections: 4, maxResponseSize: maxAnswerBytes });
  const downloads = new Agent({ ...common, pipelining: 1, headersTimeout: idleMs, bodyTimeout: idleMs });
  return {
    post: (path, body, options = {}) => post(new URL(path, url), body, options, dispatcher),
    located: (text) => {
      const found = new URL(text, url);
      return found.origin === new URL(url).origin
        ? { url: found.href, dispatcher: downloads }
        : { url: found.href };
    },
    get site() {
      return site;
    },
    expectSite: (siteId) => {
      expected = siteId;
    },
    close: async () => void (await Promise.all([dispatcher.destroy(), downloads.destroy()])),
  };
}

async function post(url: URL, body: unknown, options: PostOptions, dispatcher: Agent): Promise<unknown> {
  const { session, timeoutMs = 20_000, signal } = options;
  const answer = await request(url, {
    method: 'POST',
    dispatcher,
    headers: {
      'content-type': 'application/json',
      ...(session !== undefined && { authorization: `Bearer ${session}` }),
    },
    body: JSON.stringify(body),
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    ...(signal !== undefined && { signal }),
  }).catch((cause: unknown) => throwUnreachable(url, cause));
  const text = await answer.body.text().catch((cause: unknown) => throwUnreachable(url, cause));
  const document = parsed(text);
  if (answer.statusCode >= 300) throw answeredError(answer.statusCode, document);
  return document;
}

function throwUnreachable(url: URL, cause: unknown): never {
  const reason = cause instanceof Error ? cause.message : String(cause);
  throw new RailheadError(
    'UNAVAILABLE',
    `the site at ${url.origin} did not answer: ${reason}`,
    { reason },
    cause,
  );
}

function parsed(text: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The error of an answer, by its body when that is ours, else by its status. */
function answeredError(status: number, document: unknown): RailheadError {
  const error = (document as { error?: WireError } | undefined)?.error;
  if (typeof error?.code === 'string' && typeof error.message === 'string') return fromWireError(error);
  const codes = Object.keys(errorStatus) as ErrorCode[];
  const code = codes.find((candidate) => errorStatus[candidate] === status) ?? 'UNAVAILABLE';
  return new RailheadError(code, `the site answered with status ${status}`, { status });
}
