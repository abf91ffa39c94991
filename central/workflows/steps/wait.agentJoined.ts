import type { StepInput } from '#contract/steps.ts';
import { nodeTopic, siteTopic } from '../../signals.ts';
import { joinedRamdisk } from '../ramdisk.ts';
import { type StepResult, type StepRun, waitFor } from '../stepRun.ts';
import { requireTrusted } from '../trust.ts';

/** Waits until the ramdisk that this workflow booted, the OS that it installed, or the site's agent is there. */
export function agentJoined(run: StepRun, { role }: StepInput<'wait.agentJoined'>): Promise<StepResult> {
  const { node_id: nodeId, site_id: siteId } = run.workflow;
  const look: (run: StepRun) => Promise<StepResult | undefined> = looks[role];
  return waitFor(run, [nodeTopic(nodeId), siteTopic(siteId)], () => look(run));
}

const looks = {
  ramdisk: async (run: StepRun) => {
    const join = await joinedRamdisk(run);
    if (join === undefined) return undefined;
    await requireTrusted(run, join);
    if (join.lost_at !== null) return undefined;
    return { joinId: join.join_id, bootId: join.boot_id, trust: join.trust };
  },
  node: async ({ central, workflow }: StepRun) => {
    const join = await central.store
      .selectFrom('node_joins')
      .select('join_id')
      .where('node_id', '=', workflow.node_id)
      .where('role', '=', 'node')
      .where('received_at', '>=', workflow.created_at)
      .executeTakeFirst();
    return join === undefined ? undefined : { joinId: join.join_id };
  },
  site: async ({ central, workflow }: StepRun) => {
    const site = await central.store
      .selectFrom('sites')
      .select('seen_at')
      .where('site_id', '=', workflow.site_id)
      .where('seen_at', '>=', workflow.created_at)
      .executeTakeFirst();
    return site === undefined ? undefined : { seenAt: site.seen_at };
  },
};
