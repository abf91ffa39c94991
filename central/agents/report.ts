import { SiteSettings } from '#contract/agentWire.ts';
import { SeenMachine } from '#contract/seenMachine.ts';
import type { CentralContext } from '../context.ts';
import { recordSeenMachines } from '../metal/seenMachines.ts';
import { recordInventory } from '../siteCaches/inventory.ts';
import { noteSettings } from '../sites.ts';
import type { AgentIdentity } from './identity.ts';
import { noteObserved } from './nodeSpec.ts';
import { recordProgress } from './progress.ts';
import {
  type ReportEnvelope,
  ReportedEvent,
  ReportedImage,
  ReportedProgress,
  ReportedResult,
  wellFormed,
} from './reportSchema.ts';
import { recordResult } from './results.ts';
import { recordSiteEvent } from './siteEvents.ts';

/**
 * Takes what an agent reports: of a site everything, of an installed OS the ends and the progress of its own operations. Everything in
 * it may be delivered twice: results are known by their operation, events by their id. Events come first, since a result is checked against the key of the join that an event brings.
 */
export async function takeReport(
  context: CentralContext,
  agent: AgentIdentity,
  report: ReportEnvelope,
): Promise<void> {
  const take = <Schema extends Parameters<typeof wellFormed>[0]>(
    schema: Schema,
    items: readonly unknown[],
  ) => {
    const { good, bad } = wellFormed(schema, items);
    if (bad.length > 0) context.log.warn({ ...agent, bad }, 'ignored malformed items of a report');
    return good;
  };
  const { id, role } = agent;
  const isSite = role === 'site';
  if (isSite)
    for (const event of take(ReportedEvent, report.events)) await recordSiteEvent(context, id, event);
  for (const result of take(ReportedResult, report.results)) await recordResult(context, agent, result);
  for (const progress of take(ReportedProgress, report.progress))
    await recordProgress(context, agent, progress);
  if (isSite && report.machines !== undefined)
    await recordSeenMachines(context.store, id, take(SeenMachine, report.machines));
  if (isSite && report.images !== undefined)
    await recordInventory(context, { agentId: id, siteId: id }, take(ReportedImage, report.images));
  if (isSite && report.settings !== undefined)
    for (const settings of take(SiteSettings, [report.settings]))
      await noteSettings(context.store, id, settings);
  await noteObserved(context.store, { role, id }, report.observedGeneration);
}
