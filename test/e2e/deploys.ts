import type { DiskHints } from '#contract/steps.ts';
import { allEvents, deploy, followWorkflow, type Workflow } from '#rack/line/deployment.ts';
import type { Line } from '#rack/line/line.ts';
import { askOs, waitForOs } from '#rack/line/runningOs.ts';
import type { Report } from './report.ts';
import { osRef } from './withLine.ts';

/** The longest that a whole deploy may take under emulation. */
const patience = 5 * 60_000;

export interface DeployOptions {
  signal: AbortSignal;
  disk?: DiskHints;
}

/** Deploys and waits for the workflow's end. */
export async function deployToEnd(
  line: Line,
  machine: string,
  { signal, disk }: DeployOptions,
): Promise<Workflow> {
  const workflowId = await deploy(line, machine, osRef, { disk });
  return followWorkflow(line, workflowId, { signal: withPatience(signal) });
}

/** Starts a deploy and returns as soon as a good part of the image is on its way to the disk. */
export async function deployUntilWriting(line: Line, machine: string, signal: AbortSignal): Promise<string> {
  const workflowId = await deploy(line, machine, osRef);
  const workflow = await followWorkflow(line, workflowId, { signal: withPatience(signal), until: isWriting });
  if (workflow.state !== 'running')
    throw new Error(`the workflow ended before bytes flowed: ${JSON.stringify(workflow.error)}`);
  return workflowId;
}

export function followToEnd(line: Line, workflowId: string, signal: AbortSignal): Promise<Workflow> {
  return followWorkflow(line, workflowId, { signal: withPatience(signal) });
}

/** The machine runs the OS that was deployed, and the books say so. */
export async function checkDeployed(
  report: Report,
  line: Line,
  machine: string,
  workflow: Workflow,
  signal: AbortSignal,
): Promise<void> {
  report.check('the workflow succeeded', workflow.state === 'succeeded', workflow.error);
  if (workflow.state !== 'succeeded') return;
  const { digest, diskBytes } = workflow.steps.find(({ use }) => use === 'deploy.deploy')?.result ?? {};
  report.check('the digest written is the catalog’s', digest === line.artifacts.os.sha256, digest);
  report.check('all bytes of the disk were written', diskBytes === line.artifacts.os.diskBytes, diskBytes);
  const os = await waitForOs(line, machine, { timeoutMs: 60_000, signal });
  report.check('the OS says which image it is', os.image === osRef, os.image);
  const hostname = line.nodes.get(machine)?.replace('_', '-');
  report.check('the OS has the hostname of its user data', os.hostname === hostname, os.hostname);
  const answer = await askOs(os.address);
  report.check('the OS answers HTTP', answer.includes(osRef) && answer.includes(os.hostname), answer);
}

/** Each protocol of the boot left its trace in one timeline. */
export async function checkTimeline(report: Report, line: Line, workflowId: string): Promise<void> {
  const types = new Set((await allEvents(line, workflowId)).map(({ type }) => type));
  for (const type of ['boot.dhcp', 'boot.script', 'boot.http', 'agent.joined'])
    report.check(`the timeline has ${type}`, types.has(type), [...types]);
}

function isWriting(workflow: Workflow): boolean {
  const { doneBytes = 0, totalBytes = Number.POSITIVE_INFINITY } =
    workflow.steps.find(({ use }) => use === 'deploy.deploy')?.progress ?? {};
  return doneBytes > totalBytes * 0.2;
}

function withPatience(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(patience)]);
}
