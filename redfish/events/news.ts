import { asObject, asText, type Json, linkOf } from '../json.ts';

/** Who comes and goes at the BMC. Our own sessions are among it: looking because of them would never end. */
const ofSessions =
  /\/Sessions?(\/|$)|SessionService|AccountService|UserLog(in|out|ged)|Session(Created|Deleted|Ended|Terminated|Closed)|log(ged)? ?(in|out)\b|USR00(3[0-4])\b/i;

/**
 * Whether an Event (DSP2046) may tell of the machine, so that it is worth a look. Events are hints: what is so is read. Metric reports, which
 * some BMCs send by the same way, and comings and goings of users are none.
 */
export function isNews(body: Json | undefined): boolean {
  const event = asObject(body);
  if (/MetricReport/i.test(asText(event['@odata.type']) ?? '')) return false;
  const records = Array.isArray(event.Events) ? event.Events : [];
  return records.some((record) => isAboutMachine(record));
}

function isAboutMachine(record: Json): boolean {
  const { MessageId, Message, EventType, OriginOfCondition } = asObject(record);
  const origin = linkOf(OriginOfCondition) ?? asText(OriginOfCondition) ?? '';
  const words = [MessageId, Message, EventType].map((word) => (asText(word) ?? '').slice(0, 512));
  if (origin === '' && words.every((word) => word === '')) return false;
  return ![origin, ...words].some((word) => ofSessions.test(word));
}

/** The contexts that an event says it was subscribed with: for the whole, or in each record (OpenBMC). */
export function contextsOf(body: Json | undefined): string[] {
  const event = asObject(body);
  const records = Array.isArray(event.Events) ? event.Events : [];
  const all = [event, ...records.map(asObject)].flatMap(({ Context }) => asText(Context) ?? []);
  return all.filter((context) => context !== '');
}
