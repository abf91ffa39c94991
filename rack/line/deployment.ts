import type { WireError } from '#contract/errors.ts';
import { tenantId } from './catalog.ts';
import type { Line } from './line.ts';
import { type DeployChoices, deployProfile } from './profile.ts';

/** A workflow as the centre's API shows it, as far as the demo and the cases look at it. */
export interface Workflow {
  workflowId: string;
  state: 'running' | 'succeeded' | 'failed' | 'cancelled';
  error?: WireError;
  steps: WorkflowStep[];
}

export interface WorkflowStep {
  use: string;
  state: string;
  attempt: number;
  startedAt?: string;
  finishedAt?: string;
  result?: Record<string, unknown>;
  error?: WireError;
  progress?: { phase: string; doneBytes?: number; totalBytes?: number };
}

export interface WorkflowEvent {
  at: string;
  type: string;
  text: string;
  cause: string;
}

/** Starts the deploy of an image on a machine of the line and returns the workflow's id. */
export async function deploy(
  line: Line,
  machine: string,
  imageRef: string,
  choices?: DeployChoices,
): Promise<string> {
  const profileId = `deploy-${machine}-${Date.now()}`;
  await line.api.call('profiles', 'create', {
    tenantId,
    document: deployProfile(profileId, imageRef, choices),
  });
  const nodeId = line.nodes.get(machine);
  await enrolled(line, nodeId);
  const { workflowId } = await line.api.call<{ workflowId: string }>('metal', 'deploy', {
    tenantId,
    nodeId,
    profileId,
  });
  return workflowId;
}

/** Waits until the machine's BMC has told which machine it is: until then the workflow of its enrolment runs. */
export async function enrolled(line: Line, nodeId: string | undefined): Promise<void> {
  const node = await line.api.call<{ state: string; workflowId?: string }>('nodes', 'get', {
    tenantId,
    nodeId,
  });
  if (node.state !== 'enrolling' || node.workflowId === undefined) return;
  await followWorkflow(line, node.workflowId, { signal: AbortSignal.timeout(enrolMs) });
}

const enrolMs = 180_000;

export function getWorkflow(line: Line, workflowId: string): Promise<Workflow> {
  return line.api.call('workflows', 'get', { tenantId, workflowId });
}

/** The workflow once it has ended, or once `until` says so; `onChange` sees it after each of its events. */
export async function followWorkflow(
  line: Line,
  workflowId: string,
  options: {
    signal: AbortSignal;
    onChange?: (workflow: Workflow) => void;
    until?: (workflow: Workflow) => boolean;
  },
): Promise<Workflow> {
  let cursor: string | undefined;
  for (;;) {
    options.signal.throwIfAborted();
    const workflow = await getWorkflow(line, workflowId);
    options.onChange?.(workflow);
    if (workflow.state !== 'running' || options.until?.(workflow)) return workflow;
    const page = await eventsAfter(line, workflowId, cursor);
    cursor = page.cursor;
  }
}

/** All events of a workflow: the timeline of its machine's boot among them. */
export async function allEvents(line: Line, workflowId: string): Promise<WorkflowEvent[]> {
  const events: WorkflowEvent[] = [];
  let cursor: string | undefined;
  for (;;) {
    const input = { tenantId, workflowId, limit: 200, ...(cursor === undefined ? {} : { cursor }) };
    const page = await line.api.call<{ items: WorkflowEvent[]; cursor: string }>(
      'workflows',
      'events',
      input,
    );
    if (page.items.length === 0) return events;
    events.push(...page.items);
    cursor = page.cursor;
  }
}

function eventsAfter(
  line: Line,
  workflowId: string,
  cursor: string | undefined,
): Promise<{ cursor: string }> {
  const input = { tenantId, workflowId, waitSeconds: 1, ...(cursor === undefined ? {} : { cursor }) };
  return line.api.call('workflows', 'events', input);
}
