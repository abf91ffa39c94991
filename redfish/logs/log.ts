import type { LogMark, LogReading } from '#contract/bmcLog.ts';
import { BmcRefusal } from '../answers.ts';
import type { Machine } from '../operations/powerState.ts';
import { findLog } from './find.ts';
import { readLog } from './read.ts';

/** Kept in a BMC's memory in the place of a path: it has no event log. */
const none = 'none';

/**
 * What is new in a BMC's event log since `mark`; undefined when it has none. Where the log is, is looked for once.
 * @throws BmcRefusal and as `RedfishClient.get`
 */
export async function readEventLog(
  { client, links, vendor, memory }: Machine,
  mark: LogMark | undefined,
): Promise<LogReading | undefined> {
  memory.eventLog ??= (await findLog(client, links, vendor.eventLogs)) ?? none;
  if (memory.eventLog === none) return undefined;
  try {
    return await readLog(client, memory.eventLog, mark);
  } catch (error) {
    // Renewed firmware may have it elsewhere: the next reading looks for it.
    if (error instanceof BmcRefusal && error.answer.status === 404) delete memory.eventLog;
    throw error;
  }
}
