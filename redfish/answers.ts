import { RailheadError } from '#contract/errors.ts';
import type { Json } from './json.ts';
import { type BmcMessage, demandsPasswordChange, messagesOf, plainText, says } from './messages.ts';

/** One HTTP answer of a BMC. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  /** Undefined for an empty body and for one that is no JSON. */
  body: Json | undefined;
  text: string;
}

export function isSuccess({ status }: Pick<Answer, 'status'>): boolean {
  return status >= 200 && status < 300;
}

/** An answer that says no. `answer` is kept so that an operation can look what the BMC asks for. */
export class BmcRefusal extends RailheadError {
  readonly answer: Answer;
  readonly messages: BmcMessage[];

  constructor(method: string, path: string, answer: Answer) {
    const messages = messagesOf(answer.body);
    super('DRIVER_ERROR', sentence(method, path, answer, messages), {
      reason: reasonOf(answer, messages),
      status: answer.status,
      path,
      ...(messages.length > 0 && { messageIds: messages.map((message) => message.id) }),
    });
    this.name = 'BmcRefusal';
    this.answer = answer;
    this.messages = messages;
  }
}

function sentence(method: string, path: string, answer: Answer, messages: readonly BmcMessage[]): string {
  const said = messages.map((message) => `${message.id}: ${message.text}`).join('; ');
  const words = said || firstWords(answer.text) || 'no reason given';
  if (demandsPasswordChange(messages))
    return `the BMC does nothing before its password was changed: have Railhead change it (railhead nodes rotate-bmc-password); it answered HTTP ${answer.status} to ${method} ${path}: ${words}`;
  return `the BMC answered HTTP ${answer.status}${without(answer)} to ${method} ${path}: ${words}`;
}

/** What is missing, as far as the status tells. */
function without({ status }: Answer): string {
  if (status === 401 || status === 403) return ' (has its user the privilege?)';
  return isSuccess({ status }) ? ' without a resource' : '';
}

function reasonOf(answer: Answer, messages: readonly BmcMessage[]): string {
  // Supermicro answers so to what its license does not cover (metal3-io/ironic-image issue 688).
  if (says(messages, 'OemLicenseNotPassed')) return 'license';
  if (demandsPasswordChange(messages)) return 'password-change-required';
  if (isSuccess(answer)) return 'malformed';
  return answer.status === 503 || answer.status === 429 ? 'busy' : 'refused';
}

function firstWords(text: string): string {
  return plainText(text, 200);
}

/** @throws BmcRefusal unless the answer is a success */
export function mustSucceed(method: string, path: string, answer: Answer): Answer {
  if (isSuccess(answer)) return answer;
  throw new BmcRefusal(method, path, answer);
}
