import type { RamdiskJoin } from '#contract/join.ts';
import { acknowledgeAlarms, raiseAlarm } from '../alarms.ts';
import type { CentralContext } from '../context.ts';
import { recordEvent } from '../events.ts';
import { noteDiscovered } from '../metal/discovery.ts';
import { noteHealth } from '../metal/health.ts';
import { noteEnded } from '../metal/recordings.ts';
import { discoveryTopic, nodeTopic, workflowTopic } from '../signals.ts';
import { isDuplicate, type Queries, type Store } from '../store/store.ts';
import { noteAsked } from './asks.ts';
import { checkJoin, type JoinRefusal } from './joinChecks.ts';
import { endLostOperations, recordLoss, recordRamdiskJoin } from './ramdiskJoins.ts';
import type { ReportedEvent } from './reportSchema.ts';
import { runningWorkflow } from './runningWorkflow.ts';

/** Takes one event of a site, once, and lets the node's workflow see it. */
export async function recordSiteEvent(
  context: CentralContext,
  siteId: string,
  event: ReportedEvent,
): Promise<void> {
  const nodeId = await nodeOf(context.store, siteId, event);
  if (event.type === 'agent.joined') {
    const refusal = nodeId === undefined ? unknownNode : await checkJoin(context, siteId, nodeId, event);
    if (refusal !== undefined) return refuseJoin(context, siteId, nodeId, event, refusal);
  }
  const workflowId =
    nodeId === undefined || isConsole(event) ? undefined : await runningWorkflow(context.store, nodeId);
  if (!(await keepEvent(context, siteId, event, nodeId, workflowId))) return;
  if (event.type === 'machine.discovered') context.signals.notify(discoveryTopic(siteId));
  if (nodeId === undefined) return;
  if (event.type === 'agent.joined' || endsJoin(event))
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
  return once(store, async (queries) => {
    const { type, at, mac, bootId, uuid, role, trust, reason, logEntry, recordingId } = event;
    const facts = { mac, bootId, uuid, role, trust, reason, logEntry, recordingId };
    const text = event.text ?? describe(event);
    const cause = `site ${siteId}`;
    await recordEvent(queries, { eventId, type, at, text, cause, nodeId, workflowId, data: facts });
    if (type === 'machine.alarm')
      await raiseAlarm(queries, {
        ...{ alarmId: eventId, at, siteId, nodeId, mac, text },
        reason: reason ?? 'contested',
      });
    if (nodeId !== undefined && (type === 'operator.asked' || type === 'operator.done')) {
      await noteAsked(queries, nodeId, type === 'operator.asked' ? text : null);
      if (type === 'operator.done') await acknowledgeAlarms(queries, { nodeId }, cause, 'operator-asked');
      else
        await raiseAlarm(queries, {
          ...{ alarmId: eventId, at, siteId, nodeId, mac, text },
          reason: 'operator-asked',
        });
    }
    if (type === 'machine.discovered') await noteDiscovered(queries, siteId, event);
    if (nodeId === undefined) return;
    if (type === 'console.ended') await noteEnded(queries, nodeId, recordingId);
    if (event.health !== undefined) await noteHealth(queries, nodeId, at, event.health);
    if (type === 'agent.joined')
      await recordRamdiskJoin(queries, eventId, nodeId, event.join as RamdiskJoin, event);
    if (endsJoin(event)) await recordLoss(queries, nodeId, event);
  });
}

/** What a machine prints is for who may read the machine, whatever workflow runs: it may be a secret. */
function isConsole({ type }: ReportedEvent): boolean {
  return type.startsWith('console.');
}

/** The site has lost the ramdisk, or turned away all who claim to be it. */
function endsJoin({ type, reason }: ReportedEvent): boolean {
  return type === 'agent.lost' || (type === 'machine.alarm' && reason === 'contested');
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

const unknownNode: JoinRefusal = { reason: 'no-entry', text: 'this site has no such node' };

/** A join that is not believed changes nothing, but an operator is told: a site, or a machine, says what is not so. */
async function refuseJoin(
  { store, log, signals }: CentralContext,
  siteId: string,
  nodeId: string | undefined,
  { eventId, at, mac, bootId }: ReportedEvent,
  { reason, text: why }: JoinRefusal,
): Promise<void> {
  const text = `a join was refused (${reason}): ${why}`;
  log.warn({ siteId, nodeId, mac, reason }, text);
  const workflowId = nodeId === undefined ? undefined : await runningWorkflow(store, nodeId);
  const id = `${siteId}/${eventId}`;
  const told = { text, nodeId, at };
  const data = { reason, mac, bootId };
  await once(store, async (queries) => {
    const event = { ...told, type: 'agent.refused', eventId: id, cause: `site ${siteId}`, workflowId, data };
    await recordEvent(queries, event);
    await raiseAlarm(queries, { ...told, alarmId: id, siteId, mac, reason: 'join-refused' });
  });
  if (workflowId !== undefined) signals.notify(workflowTopic(workflowId));
}

/** Does `work` in a transaction; false, and nothing was done, when an event of it had been kept before. */
async function once(store: Store, work: (queries: Queries) => Promise<void>): Promise<boolean> {
  try {
    await store.transaction().execute(work);
    return true;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}
