import type { RelayAnswer, RelayRequest } from '#contract/redfishRelay.ts';
import { type Answer, BmcRefusal } from './answers.ts';
import type { RedfishClient } from './client.ts';
import type { Json, JsonObject } from './json.ts';

/** Longer answers are not handed on: what a report to the centre takes has bounds. */
const mostBytes = 128 * 1024;
/** Resources of the standard nest some ten deep. */
const mostLevels = 64;

/**
 * Sends one request as it is and returns whatever the BMC answers, but for the secrets in it. Who may ask for what is the caller's to decide.
 * @throws RailheadError DRIVER_ERROR when the BMC cannot be reached or refuses the credentials
 */
export async function relayRequest(client: RedfishClient, request: RelayRequest): Promise<RelayAnswer> {
  const { status, body, text } = await sent(client, request).catch((error: unknown) => {
    if (error instanceof BmcRefusal) return error.answer;
    throw error;
  });
  if (Buffer.byteLength(text) > mostBytes) return { status, truncated: true };
  if (body === undefined) return { status };
  const shown = masked(body);
  return shown === undefined ? { status, truncated: true } : { status, body: shown };
}

async function sent(client: RedfishClient, { method, path, body = {} }: RelayRequest): Promise<Answer> {
  if (method === 'GET') return client.read(path);
  if (method === 'POST') return client.post(path, body as JsonObject);
  return client.patch(await client.get(path), body as JsonObject);
}

/** Names of the standard's properties that are to be null when read, and which BMCs fill all the same, SNMP's community strings first; and what a task was begun by. */
const secretName =
  /(password|passphrase|communitystring|secret|privatekey|authenticationkey|encryptionkey|token|jsonbody)$/i;
/** Of a task's `HttpHeaders`. */
const secretHeader = /^\s*(x-auth-token|authorization|cookie)\s*:/i;

/** What a BMC says with every secret in it made `***`; undefined for what is nested deeper than any resource. */
export function masked(value: Json, levels = mostLevels): Json | undefined {
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return undefined;
  const entries = Object.entries(value).map(([name, part]): [string, Json | undefined] => [
    name,
    typeof part === 'string' && part !== '' && (secretName.test(name) || secretHeader.test(part))
      ? '***'
      : masked(part, levels - 1),
  ]);
  if (entries.some(([, part]) => part === undefined)) return undefined;
  if (Array.isArray(value)) return entries.map(([, part]) => part as Json);
  return Object.fromEntries(entries as [string, Json][]);
}
