import type { RelayAnswer, RelayRequest } from '#contract/redfishRelay.ts';
import { type Answer, BmcRefusal } from './answers.ts';
import type { RedfishClient } from './client.ts';
import type { JsonObject } from './json.ts';

/** Longer answers are not handed on: what a report to the centre takes has bounds. */
const mostBytes = 128 * 1024;

/**
 * Sends one request as it is and returns whatever the BMC answers. Who may ask for what is the caller's to decide.
 * @throws RailheadError DRIVER_ERROR when the BMC cannot be reached or refuses the credentials
 */
export async function relayRequest(client: RedfishClient, request: RelayRequest): Promise<RelayAnswer> {
  const { status, body, text } = await sent(client, request).catch((error: unknown) => {
    if (error instanceof BmcRefusal) return error.answer;
    throw error;
  });
  if (Buffer.byteLength(text) > mostBytes) return { status, truncated: true };
  return { status, ...(body !== undefined && { body }) };
}

async function sent(client: RedfishClient, { method, path, body = {} }: RelayRequest): Promise<Answer> {
  if (method === 'GET') return client.read(path);
  if (method === 'POST') return client.post(path, body as JsonObject);
  return client.patch(await client.get(path), body as JsonObject);
}
