import { Value } from 'typebox/value';
import { RamdiskJoin } from '#contract/join.ts';
import type { CentralContext } from '../context.ts';
import { recordEvent } from '../events.ts';
import { nodeTopic, workflowTopic } from '../signals.ts';
import { isDuplicate, type Queries } from '../store/store.ts';
import { endLostOperations, recordLoss, recordRamdiskJoin } from './ramdiskJoins.ts';
import { proofHolds } from './ramdiskProof.ts';
import type { ReportedEvent } from './reportSchema.ts';

/** Takes one event of a site, once, and lets the node's workflow see it. */
export async function recordSiteEvent(
  context: CentralContext,
  siteId: string,
  event: ReportedEvent,
): Promise<void> {
  const nodeId = await nodeOf(context.store, siteId, event);
  if (event.type === 'agent.joined' && !(await isGenuineJoin(event, nodeId))) {
    context.log.warn(
      { siteId, event: { ...event, join: undefined } },
      'a join that is not proven was ignored',
    );
    return;
  }
  const workflowId = nodeId === undefined ? undefined : await runningWorkflow(context.store, nodeId);
  if (!(await keepEvent(context, siteId, event, nodeId, workflowId))) return;
  if (nodeId === undefined) return;
  if (event.type === 'agent.joined' || event.type === 'agent.lost')
    await endLostOperations(context, nodeId, event, `site ${siteId}`);
  context.signals.notify(nodeTopic(nodeId));
  if (workflowId !== undefined) context.signals.notify(workflowTopic(workflowId));
}

/** Stores the event with what it means for the node's joins; false when it was delivered before. */
async function keepEvent(
  { store }: CentralContext,
  siteId: string,
  event: ReportedEvent,
  nodeId: string | undefined,
  workflowId: string | undefined,
): Promise<boolean> {
  const eventId = `${siteId}/${event.eventId}`;
  try {
    await store.transaction().execute(async (queries) => {
      const { type, at, mac, bootId, uuid, role, trust } = event;
      const facts = { mac, bootId, uuid, role, trust };
      const text = event.text ?? describe(event);
      await recordEvent(queries, {
        eventId,
        type,
        at,
        text,
        cause: `site ${siteId}`,
        nodeId,
        workflowId,
        data: facts,
      });
      if (nodeId === undefined) return;
      if (event.type === 'agent.joined')
        await recordRamdiskJoin(queries, eventId, nodeId, event.join as RamdiskJoin, event);
      if (event.type === 'agent.lost') await recordLoss(queries, nodeId, event);
    });
    return true;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}

function describe({ type, role, mac, bootId }: ReportedEvent): string {
  const facts = [role, mac, bootId === undefined ? undefined : `boot ${bootId}`];
  return [type, ...facts.filter((fact) => fact !== undefined)].join(' ');
}

/** The node that an event is about: only one of the site's own. */
async function nodeOf(store: Queries, siteId: string, event: ReportedEvent): Promise<string | undefined> {
  if (event.nodeId !== undefined) {
    const node = await store
      .selectFrom('nodes')
      .select('node_id')
      .where('node_id', '=', event.nodeId)
      .where('site_id', '=', siteId)
      .executeTakeFirst();
    return node?.node_id;
  }
  if (event.mac === undefined) return undefined;
  const owner = await store
    .selectFrom('node_macs')
    .select('node_id')
    .where('site_id', '=', siteId)
    .where('mac', '=', event.mac)
    .executeTakeFirst();
  return owner?.node_id;
}

async function isGenuineJoin(event: ReportedEvent, nodeId: string | undefined): Promise<boolean> {
  if (nodeId === undefined || !Value.Check(RamdiskJoin, event.join)) return false;
  return proofHolds(event.join);
}

async function runningWorkflow(store: Queries, nodeId: string): Promise<string | undefined> {
  const workflow = await store
    .selectFrom('workflows')
    .select('workflow_id')
    .where('node_id', '=', nodeId)
    .where('state', '=', 'running')
    .executeTakeFirst();
  return workflow?.workflow_id;
}
