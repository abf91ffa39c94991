import { MachinePoll, type MachinePollAnswer } from '#contract/agentWire.ts';
import { validate } from '#contract/validate.ts';
import type { OpenOperation } from '../store/journal.ts';
import type { Session } from '../store/sessions.ts';
import { checkCurrent } from './current.ts';
import type { MachineParts } from './parts.ts';

/** What a machine has been told: it is repeated, but does not end a long poll twice. */
export interface Told {
  cancels: Set<string>;
  /** The list of the centre's keys. */
  trustNumber?: number;
}

/**
 * `POST /v1/machine/poll`: answers at once when the machine has not taken an operation or not heard of a cancellation or of the
 * centre's newest keys, else when there is one or the machine is asked whether it is there, at the latest after `waitSeconds`. `gone` aborts when the
 * machine hangs up.
 * @throws RailheadError UNAUTHENTICATED when the session ends meanwhile
 */
export async function pollMachine(
  body: unknown,
  session: Session,
  told: Told,
  gone: AbortSignal,
  parts: MachineParts,
): Promise<MachinePollAnswer> {
  const { waitSeconds, taken } = validate(MachinePoll, body);
  const end = performance.now() + waitSeconds * 1000;
  const { asked, release } = parts.presence.hold(session.nodeId);
  const over = AbortSignal.any([gone, asked]);
  try {
    for (;;) {
      const turn = parts.machines.turn;
      checkCurrent(session, parts);
      const answer = answerNow(session.nodeId, taken, parts);
      const { trust, trustNumber } = parts.kept.current;
      const newKeys = trust !== undefined && trustNumber !== told.trustNumber;
      const fresh = newKeys || answer.cancelled.some((id) => !told.cancels.has(id));
      const isDue = answer.operations.length > 0 || fresh;
      if (isDue || over.aborted || performance.now() >= end) {
        for (const id of answer.cancelled) told.cancels.add(id);
        told.trustNumber = trustNumber;
        // An operation that is told now may be signed by a key newer than the machine's join; a ramdisk that waits for none has to know it too.
        return isDue && trust !== undefined ? { ...answer, trust } : answer;
      }
      await parts.machines.after(turn, end - performance.now(), over);
    }
  } finally {
    release();
  }
}

function answerNow(nodeId: string, taken: readonly string[], { state }: MachineParts): MachinePollAnswer {
  const now = Date.now();
  const open = state.journal.open('ramdisk', nodeId);
  const due = open.filter((each) => mayBegin(each, now) && !taken.includes(each.operation.operationId));
  const operations = due.map(({ operation: { operationId, jws = '' } }) => ({ operationId, jws }));
  // Marked before the answer leaves: from here on the machine may have acted.
  for (const { operationId } of operations) state.journal.start(operationId, now);
  const cancelled = open.filter((each) => each.cancelled).map((each) => each.operation.operationId);
  return { operations, cancelled };
}

/** One that was handed out before is handed out again, past its expiry too: the machine knows whether it had begun. */
function mayBegin({ operation, cancelled, startedAt }: OpenOperation, now: number): boolean {
  return startedAt !== undefined || (!cancelled && Date.parse(operation.expiresAt) > now);
}
