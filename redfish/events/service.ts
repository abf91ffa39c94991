import type { RedfishClient } from '../client.ts';
import { asObject, asText, type JsonObject, linkOf } from '../json.ts';

/** The event service of a BMC; undefined when it has none, or it is switched off. */
export async function eventService(client: RedfishClient): Promise<JsonObject | undefined> {
  const link = linkOf((await client.root()).EventService);
  if (link === undefined) return undefined;
  const { body } = await client.get(link);
  return body.ServiceEnabled === false ? undefined : body;
}

/**
 * Where the stream of events is, the best way to ask for it first: with a filter, where the service knows one, so that metric reports do not
 * come (DSP0266, "Server-sent events"). Undefined when there is no stream.
 */
export function streamPaths(service: JsonObject, filter: string): [string, ...string[]] | undefined {
  const uri = asText(service.ServerSentEventUri) ?? linkOf(service.ServerSentEventUri);
  if (uri === undefined || uri === '') return undefined;
  const filters = asObject(service.SSEFilterPropertiesSupported).EventFormatType === true;
  if (!filters || uri.includes('?')) return [uri];
  return [`${uri}?$filter=${encodeURIComponent(filter).replaceAll("'", '%27')}`, uri];
}
