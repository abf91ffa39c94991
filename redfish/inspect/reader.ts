import { RailheadError } from '#contract/errors.ts';
import { BmcRefusal } from '../answers.ts';
import type { RedfishClient } from '../client.ts';
import { memberLinks } from '../collection.ts';
import { asObject, type JsonObject, linkOf } from '../json.ts';

/** Reads what an inspection looks at: what is linked and refused costs its own part only, and is noted. */
export interface Reader {
  /** What was linked and could not be read, a sentence each. */
  notes: string[];
  /** The resource behind a link; empty when there is no link or the BMC refuses. */
  one(link: unknown): Promise<JsonObject>;
  /** The members of the collection behind a link, at most `limit`. */
  members(collection: unknown, limit?: number): Promise<JsonObject[]>;
  /** The first resource that a system links to under this name. */
  first(system: JsonObject, name: string): Promise<JsonObject>;
}

export function readerOf(client: RedfishClient): Reader {
  const notes: string[] = [];
  const one = async (link: unknown): Promise<JsonObject> => {
    const target = linkOf(link);
    if (target === undefined) return {};
    return (await client.get(target).catch((error) => noteOf(error, notes)))?.body ?? {};
  };
  const members = async (collection: unknown, limit = Number.POSITIVE_INFINITY): Promise<JsonObject[]> => {
    const target = linkOf(collection);
    if (target === undefined) return [];
    const links = (await memberLinks(client, target).catch((error) => noteOf(error, notes))) ?? [];
    if (links.length > limit) notes.push(`of ${links.length} members of ${target} only ${limit} were read`);
    const found: JsonObject[] = [];
    for (const link of links.slice(0, limit)) found.push(await one({ '@odata.id': link }));
    return found.filter((body) => Object.keys(body).length > 0);
  };
  const first = (system: JsonObject, name: string) => {
    const links = asObject(system.Links)[name];
    return one(Array.isArray(links) ? links[0] : undefined);
  };
  return { notes, one, members, first };
}

/** A refusal, or an answer that is none, is kept as a note; a BMC that is gone ends the inspection. */
function noteOf(error: unknown, notes: string[]): undefined {
  const isNote =
    error instanceof BmcRefusal || (error instanceof RailheadError && error.details.reason === 'malformed');
  if (!isNote) throw error;
  notes.push(error.message);
  return undefined;
}
