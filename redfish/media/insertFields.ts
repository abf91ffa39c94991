import type { JsonObject } from '../json.ts';
import { type BmcMessage, saysOf } from '../messages.ts';

const missing = [
  'ActionParameterMissing',
  'PropertyMissing',
  'CreateFailedMissingReqProperties',
  'GeneralError',
];

/** What some BMCs demand beside the URL, and the value that they get (sushy notes retry-if-transferprototype-missing and others). */
function demandable(url: string): JsonObject {
  return {
    TransferProtocolType: new URL(url).protocol === 'https:' ? 'HTTPS' : 'HTTP',
    TransferMethod: 'Stream',
    Inserted: true,
    WriteProtected: true,
    // Only to BMCs that refuse to go without; the image's source asks for none.
    UserName: 'none',
    Password: 'none',
  };
}

/** The fields of these names, with the values that they get. */
export function demandedFields(names: readonly string[], url: string): JsonObject {
  return Object.fromEntries(Object.entries(demandable(url)).filter(([name]) => names.includes(name)));
}

/** What a refusal asks for that was not sent and can be. */
export function demandedOf(sent: JsonObject, url: string, messages: readonly BmcMessage[]): string[] {
  return Object.keys(demandable(url)).filter(
    (name) => sent[name] === undefined && saysOf(messages, name, ...missing),
  );
}

const refused = [
  'ActionParameterNotSupported',
  'ActionParameterUnknown',
  'PropertyNotWritable',
  'PropertyUnknown',
];

/** The body without what a refusal names as too much (Supermicro X11, X12: Inserted); undefined when it names nothing that was sent. */
export function withoutRefused(sent: JsonObject, messages: readonly BmcMessage[]): JsonObject | undefined {
  const kept = Object.entries(sent).filter(
    ([name]) => name === 'Image' || !saysOf(messages, name, ...refused),
  );
  return kept.length < Object.keys(sent).length ? Object.fromEntries(kept) : undefined;
}
