import type { StepInput } from '#contract/steps.ts';
import { nodeTopic, siteTopic } from '../../signals.ts';
import type { Queries } from '../../store/store.ts';
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
  node: async (run: StepRun) => (await newNodeJoin(run)) ?? (await nodeContact(run)),
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

/** The OS that was installed meanwhile has joined. */
async function newNodeJoin({ central, workflow }: StepRun): Promise<StepResult | undefined> {
  const join = await central.store
    .selectFrom('node_joins')
    .select('join_id')
    .where('node_id', '=', workflow.node_id)
    .where('role', '=', 'node')
    .where('received_at', '>=', workflow.created_at)
    .executeTakeFirst();
  return join === undefined ? undefined : { joinId: join.join_id };
}

/**
 * An OS that joined before has its identity already: after a restart it only polls again. Where its agent tells which boot it is in, a new
 * boot is a join of its own; what it says before it goes down does not count.
 */
async function nodeContact({ central, workflow, stepId }: StepRun): Promise<StepResult | undefined> {
  if (await tellsItsBoot(central.store, workflow.node_id)) return undefined;
  const contact = await central.store
    .selectFrom('node_specs')
    .innerJoin('workflow_steps', (join) => join.on('workflow_steps.step_id', '=', stepId))
    .select('node_specs.observed_at')
    .where('node_specs.role', '=', 'node')
    .where('node_specs.node_id', '=', workflow.node_id)
    .whereRef('node_specs.observed_at', '>=', 'workflow_steps.started_at')
    .executeTakeFirst();
  return contact === undefined ? undefined : { observedAt: contact.observed_at };
}

async function tellsItsBoot(store: Queries, nodeId: string): Promise<boolean> {
  const boot = await store
    .selectFrom('node_joins')
    .select('join_id')
    .where('node_id', '=', nodeId)
    .where('role', '=', 'node')
    .where('boot_id', 'is not', null)
    .executeTakeFirst();
  return boot !== undefined;
}
