import { nodeTopic } from '../signals.ts';
import { type StepRun, waitFor } from './stepRun.ts';

/** Waits until the OS of this workflow has joined with its provisioned token. */
export async function awaitRejoin(run: StepRun): Promise<void> {
  await waitFor(run, [nodeTopic(run.workflow.node_id)], async () =>
    (await hasRejoined(run)) ? true : undefined,
  );
}

export async function hasRejoined({ central, workflow }: StepRun): Promise<boolean> {
  const used = await central.store
    .selectFrom('join_tokens')
    .select('token_id')
    .where('workflow_id', '=', workflow.workflow_id)
    .where('used_at', 'is not', null)
    .executeTakeFirst();
  return used !== undefined;
}
