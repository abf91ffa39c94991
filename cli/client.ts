import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Command, Option } from 'commander';
import { Agent, type Dispatcher, request } from 'undici';
import { fromWireError, RailheadError } from '#contract/errors.ts';
import { type ApiAnswer, readAnswer, unanswered } from './apiAnswer.ts';

/** What the entry file found in the environment: `RAILHEAD_SERVER`, `RAILHEAD_TOKEN`, `RAILHEAD_CA`. */
export interface CliEnvironment {
  server?: string | undefined;
  token?: string | undefined;
  /** A file with the CA (PEM) of an API that serves TLS by the centre's own CA. */
  ca?: string | undefined;
}

/** The options that every command of the API takes. */
export interface ClientFlags {
  server?: string;
  tokenFile?: string;
  ca?: string;
  format: OutputFormat;
}
export type OutputFormat = (typeof outputFormats)[number];
const outputFormats = ['table', 'json', 'yaml'] as const;

/** Calls one method of the API and returns its data. */
export type CallApi = <Data>(method: `${string}.${string}`, input: object) => Promise<Data>;

/** A command that calls the API: where the centre is, as whom, and how to print. */
export function apiCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option('--server <url>', 'base URL of the API (or RAILHEAD_SERVER)')
    .option('--token-file <file>', 'file with the bearer token (or RAILHEAD_TOKEN holds it)')
    .option('--ca <file>', "the API's CA, PEM (or RAILHEAD_CA names the file)")
    .addOption(new Option('--format <format>', 'how to print').choices(outputFormats).default('table'));
}

/** An apiCommand for what belongs to one tenant. */
export function tenantCommand(name: string, description: string): Command {
  return apiCommand(name, description).requiredOption('--tenant <tenant>', 'the tenant');
}

/**
 * Runs `work` with a client of the API.
 * @throws RailheadError INVALID_CONFIG without a server or token; UNAVAILABLE when it cannot be reached; what it answers
 */
export async function withApi<Value>(
  environment: CliEnvironment,
  flags: ClientFlags,
  work: (call: CallApi) => Promise<Value>,
): Promise<Value> {
  const server = flags.server ?? environment.server;
  if (server === undefined) throw missing('--server URL or set RAILHEAD_SERVER', 'server');
  const base = baseUrl(server);
  const token = await bearerToken(environment, flags);
  const ca = flags.ca ?? environment.ca;
  const dispatcher = new Agent({
    // Longer than any method waits for news.
    headersTimeout: 90_000,
    connect: { timeout: 10_000, ...(ca !== undefined && { ca: await readFile(ca, 'utf8') }) },
  });
  try {
    return await work((method, input) => callApi({ base, token, dispatcher }, method, input));
  } finally {
    await dispatcher.close();
  }
}

async function bearerToken(environment: CliEnvironment, { tokenFile }: ClientFlags): Promise<string> {
  const token = tokenFile === undefined ? environment.token : (await readFile(tokenFile, 'utf8')).trim();
  if (token === undefined || token === '') throw missing('--token-file FILE or set RAILHEAD_TOKEN', 'token');
  return token;
}

interface Connection {
  base: URL;
  token: string;
  dispatcher: Dispatcher;
}

async function callApi<Data>(
  { base, token, dispatcher }: Connection,
  method: string,
  input: object,
): Promise<Data> {
  const url = new URL(`/api/compute/${method.replace('.', '/')}`, base);
  for (let tries = 1; ; tries++) {
    const answer = await send(url, token, dispatcher, input);
    if ('data' in answer) return answer.data as Data;
    const { error } = answer;
    const seconds = error.details?.retryAfterSeconds;
    if (error.code !== 'RATE_LIMITED' || typeof seconds !== 'number' || tries > patience)
      throw fromWireError(error);
    await delay(Math.min(seconds, longestWaitSeconds) * 1000);
  }
}

/** A command that asks too often, e.g. for page after page, waits as it is told to, so many times in a row. */
const patience = 3;
const longestWaitSeconds = 30;

async function send(url: URL, token: string, dispatcher: Dispatcher, input: object): Promise<ApiAnswer> {
  try {
    const { statusCode, body } = await request(url, {
      dispatcher,
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(input),
    });
    return readAnswer(url.origin, statusCode, await body.text());
  } catch (error) {
    throw error instanceof RailheadError ? error : unanswered(url.origin, error);
  }
}

/** @throws RailheadError INVALID_CONFIG for what is no http or https URL */
function baseUrl(server: string): URL {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url;
  throw new RailheadError('INVALID_CONFIG', `--server must be an https:// or http:// URL, not ${server}`, {
    path: 'server',
  });
}

function missing(what: string, path: string): RailheadError {
  return new RailheadError('INVALID_CONFIG', `say ${what}`, { path });
}
