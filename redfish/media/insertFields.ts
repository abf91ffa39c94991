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

/**
 * The body to try next after a refusal: the same with exactly what the BMC asked for, once; undefined when it asks for nothing
 * that can be added.
 */
export function withDemanded(
  sent: JsonObject,
  url: string,
  messages: readonly BmcMessage[],
): JsonObject | undefined {
  const demanded = Object.entries(demandable(url)).filter(
    ([name]) => sent[name] === undefined && saysOf(messages, name, ...missing),
  );
  return demanded.length === 0 ? undefined : { ...sent, ...Object.fromEntries(demanded) };
}
