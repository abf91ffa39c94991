import { asObject, asText, asTexts, type Json } from './json.ts';

/** One entry of `@Message.ExtendedInfo` (DSP0266, "Error responses"). */
export interface BmcMessage {
  /** E.g. `Base.1.12.ActionParameterMissing`. */
  id: string;
  text: string;
  args: string[];
  related: string[];
}

/** A refusal has one or two; what is beyond is left out, as is the end of a text that fills a screen. */
const mostMessages = 16;
const longestText = 512;

/** A text for logs and errors: one line, without control characters. */
export function plainText(text: string, most = longestText): string {
  const words = text.slice(0, 8 * most).replaceAll(/[\s\p{Cc}]+/gu, ' ');
  return words.trim().slice(0, most);
}

/**
 * The messages of an answer, wherever the BMC put them: in `error`, at the top, as a list or alone;
 * `error.code` where there are none.
 */
export function messagesOf(body: Json | undefined): BmcMessage[] {
  const top = asObject(body);
  const error = asObject(top.error);
  const infos = [error['@Message.ExtendedInfo'], top['@Message.ExtendedInfo'], top.Messages].flatMap(
    (value) => value ?? [],
  );
  const messages = infos
    .slice(0, mostMessages)
    .map(messageOf)
    .filter((message) => message.id !== '' || message.text !== '');
  if (messages.length > 0 || error.code === undefined) return messages;
  return [messageOf({ MessageId: error.code, Message: error.message ?? '' })];
}

function messageOf(value: Json): BmcMessage {
  const info = asObject(value);
  return {
    id: plainText(asText(info.MessageId) ?? ''),
    text: plainText(asText(info.Message) ?? ''),
    args: asTexts(info.MessageArgs),
    related: asTexts(info.RelatedProperties),
  };
}

/** Whether a message of this name is among them, whatever its registry and version. */
export function says(messages: readonly BmcMessage[], ...names: string[]): boolean {
  return messages.some((message) => names.includes(message.id.split('.').at(-1) ?? ''));
}

/**
 * Whether one of the named messages is about this property: BMCs name it in RelatedProperties, in the
 * arguments, or only in the text.
 */
export function saysOf(messages: readonly BmcMessage[], property: string, ...names: string[]): boolean {
  return messages.some((message) => says([message], ...names) && mentions(message, property));
}

function mentions(message: BmcMessage, property: string): boolean {
  return [...message.related, ...message.args, message.text].some((text) => text.includes(property));
}

/** Messages of BMCs that do nothing before their factory password was changed: DSP0266's, and iDRAC's (dell/iDRAC-Redfish-Scripting issue 346). */
const passwordChanges = ['PasswordChangeRequired', 'SWC1908'];

export function demandsPasswordChange(messages: readonly BmcMessage[]): boolean {
  return says(messages, ...passwordChanges);
}

/** The account whose password must be changed, where a message says so and names it (DSP0266, "Password management"). */
export function passwordChangeAt(messages: readonly BmcMessage[]): string | undefined {
  const demand = messages.find((message) => says([message], ...passwordChanges));
  return demand?.args.find((arg) => /^(https?:\/\/[^/]+)?\/redfish\//.test(arg));
}
