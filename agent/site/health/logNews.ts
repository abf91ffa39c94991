import { type LogReading, logEntryText } from '#contract/bmcLog.ts';
import type { Happening } from '../store/events.ts';

type LogHappening = Omit<Extract<Happening, { type: 'bmc.log' }>, 'nodeId' | 'mac'>;

/** So many entries of one BMC are told at once, and so many an hour in the long run: a log that thousands are written to displaces nothing. */
const most = { atOnce: 32, anHour: 60 };
/** How often it is said that entries were left out, at most. */
const saidEveryMs = 600_000;

/** What may still be told of one BMC's log, and what was not. */
export interface LogBudget {
  left: number;
  at: number;
  leftOut: number;
  saidAt: number;
}

export function newBudget(now: number): LogBudget {
  return { left: most.atOnce, at: now, leftOut: 0, saidAt: Number.NEGATIVE_INFINITY };
}

/**
 * What a reading is worth telling, the oldest first, and the budget after it: how many old entries there are at first contact, that the log was
 * cleared, the newest of the new entries, and how many more there were.
 */
export function logNews(
  { mark, fresh, cleared }: LogReading,
  isFirst: boolean,
  budget: LogBudget,
  now: number,
): { happenings: LogHappening[]; budget: LogBudget } {
  const happenings: LogHappening[] = [];
  if (isFirst) happenings.push(about(firstText(mark.count)));
  if (cleared) happenings.push(about("the BMC's log was cleared"));
  const left = Math.min(most.atOnce, budget.left + ((now - budget.at) * most.anHour) / 3_600_000);
  const told = fresh.slice(Math.max(0, fresh.length - Math.floor(left)));
  let { leftOut, saidAt } = budget;
  leftOut += fresh.length - told.length;
  if (leftOut > 0 && now - saidAt >= saidEveryMs) {
    happenings.push(about(leftOutText(leftOut)));
    leftOut = 0;
    saidAt = now;
  }
  for (const entry of told) happenings.push({ type: 'bmc.log', text: logEntryText(entry), logEntry: entry });
  return { happenings, budget: { left: left - told.length, at: now, leftOut, saidAt } };
}

function about(text: string): LogHappening {
  return { type: 'bmc.log', text };
}

function firstText(count: number): string {
  return count === 0
    ? "the BMC's log is empty; what comes is told"
    : `the BMC's log has ${count} entries from before; what comes is told`;
}

function leftOutText(count: number): string {
  return `${count} entries of the BMC's log are left out here, since too many came: read them at the BMC`;
}
