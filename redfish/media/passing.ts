import type { BmcRefusal } from '../answers.ts';
import { BmcUnreachable } from '../transport.ts';

/** Whether a failure is worth another try, once the drive was looked at: a broken connection, a BMC that is busy or in conflict. */
export function mayPass(failure: BmcRefusal | BmcUnreachable): boolean {
  return failure instanceof BmcUnreachable || [409, 429, 503].includes(failure.answer.status);
}
