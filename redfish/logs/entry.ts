import type { BmcLogEntry } from '#contract/bmcLog.ts';
import { asObject, asText, type Json, type JsonObject } from '../json.ts';

/** Terminals obey these, and a log may say anything. */
const unprintable = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;

/** A LogEntry (DSP2046); undefined for a member that is a link alone. Total: a BMC may write anything anywhere. */
export function logEntryOf(body: JsonObject): BmcLogEntry | undefined {
  const id = word(body.Id, 128) ?? lastPart(asText(body['@odata.id']));
  const message = word(body.Message, 512) ?? word(body.Description, 512) ?? word(body.MessageId, 512);
  const created = word(body.Created, 64) ?? word(body.EventTimestamp, 64);
  if (id === undefined || (message === undefined && created === undefined)) return undefined;
  const severity = severityOf(asText(body.Severity) ?? asText(body.MessageSeverity));
  const sensor = word(oneOf(body.SensorType), 128);
  return {
    id,
    ...(severity !== undefined && { severity }),
    message: message ?? 'without a message',
    ...(sensor !== undefined && { sensor }),
    ...(created !== undefined && { created }),
  };
}

/** iDRAC 7 and 8 write a list of objects where the standard has a word (mrlhansen/idrac_exporter issue 26). */
function oneOf(value: Json | undefined): Json | undefined {
  const first = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first : asObject(first).Member;
}

function severityOf(said: string | undefined): BmcLogEntry['severity'] {
  if (said === 'OK' || said === 'Warning' || said === 'Critical') return said;
  return undefined;
}

function word(value: Json | undefined, longest: number): string | undefined {
  const text = asText(value)?.replaceAll(unprintable, ' ').trim().toWellFormed();
  return text === undefined || text === '' ? undefined : text.slice(0, longest).toWellFormed();
}

function lastPart(link: string | undefined): string | undefined {
  return word(link?.replace(/\/+$/, '').split('/').at(-1), 128);
}
