import type { Log } from '#base/log.ts';
import type { Journal } from '../store/journal.ts';
import type { Requests } from './requests.ts';

export interface ConfirmParts {
  journal: Pick<Journal, 'find'>;
  requests: Pick<Requests, 'confirm'>;
  log: Log;
}

/** Takes the word of an operator, by the centre, that what an operation asks for is done. Of one that does not run it says nothing. */
export function confirmOperation(operationId: string, { journal, requests, log }: ConfirmParts): void {
  const open = journal.find(operationId);
  if (open?.startedAt === undefined) return;
  const { nodeId } = open.operation;
  const request = requests.confirm(nodeId);
  if (request !== undefined)
    log.info({ operationId, nodeId, text: request.text }, 'an operator has confirmed it at the centre');
}
