import { RailheadError } from '#contract/errors.ts';
import { type Answer, BmcRefusal } from './answers.ts';
import type { RedfishClient } from './client.ts';
import { asObject, asText, linkOf } from './json.ts';
import { messagesOf } from './messages.ts';
import { retryAfterMs } from './retryAfter.ts';
import { linkPath } from './transport.ts';

const pollMs = 2000;
const failedStates = ['Exception', 'Killed', 'Cancelled', 'Interrupted'];
/** The last five are no states of the standard, but of jobs that BMCs show as tasks. */
const runningStates = [
  'New',
  'Starting',
  'Running',
  'Suspended',
  'Pending',
  'Stopping',
  'Service',
  'Cancelling',
  'Scheduled',
  'Queued',
  'Waiting',
  'Downloading',
  'Paused',
];

/**
 * Waits for what a 202 began (DSP0266, "Asynchronous operations"). A 202 that names no task is legal: then, as
 * for any other success, there is nothing to wait for and the effect must be looked at. A monitor that answers
 * 204 or 404 has ended; one that answers 303 leads to what tells how.
 * @throws RailheadError DRIVER_ERROR, reason `task-failed` with the task's messages, or `task-timeout`
 */
export async function followTask(client: RedfishClient, answer: Answer, deadline: number): Promise<void> {
  let monitor = answer.status === 202 ? monitorOf(answer) : undefined;
  if (monitor === undefined) return;
  let last = answer;
  while (client.clock.now() < deadline) {
    const asked = retryAfterMs(last.headers['retry-after'], client.clock.now()) ?? pollMs;
    await client.clock.sleep(Math.min(asked, deadline - client.clock.now()));
    last = await client.read(linkPath(client.origin, monitor));
    if (last.status === 303) monitor = last.headers.location ?? monitor;
    if (last.status === 303) continue;
    if (last.status === 204 || last.status === 404) return;
    if (last.status >= 400) throw new BmcRefusal('GET', monitor, last);
    if (last.status !== 202 && !isRunning(last)) return mustHaveSucceeded(last);
  }
  throw new RailheadError(
    'DRIVER_ERROR',
    'the BMC did not end in time what it had accepted: give the step more time, or look at the BMC’s tasks',
    {
      reason: 'task-timeout',
      lastState: asText(asObject(last.body).TaskState),
    },
  );
}

function monitorOf(answer: Answer): string | undefined {
  return answer.headers.location || asText(asObject(answer.body).TaskMonitor) || linkOf(answer.body);
}

function isRunning(answer: Answer): boolean {
  return runningStates.includes(asText(asObject(answer.body).TaskState) ?? '');
}

function mustHaveSucceeded(answer: Answer): void {
  const { TaskState, TaskStatus } = asObject(answer.body);
  if (!failedStates.includes(String(TaskState)) && TaskStatus !== 'Critical') return;
  const messages = messagesOf(answer.body);
  const said = messages.map((message) => `${message.id}: ${message.text}`).join('; ');
  throw new RailheadError(
    'DRIVER_ERROR',
    `the BMC accepted the request and then failed it: ${said || TaskState}`,
    {
      reason: 'task-failed',
      lastState: TaskState,
      messageIds: messages.map((message) => message.id),
    },
  );
}
