import { RailheadError } from '#contract/errors.ts';
import { newId } from '#contract/ids.ts';
import { createJoinToken } from '../../join/joinTokens.ts';
import { now } from '../../store/store.ts';
import { renderFor } from '../../userData/renderFor.ts';
import { defaultTokenTtlSeconds } from '../../userData/settings.ts';
import { loadTemplate } from '../../userData/templates.ts';
import { underClaim } from '../claims.ts';
import { userDataRefPrefix } from '../records.ts';
import type { StepResult, StepRun } from '../stepRun.ts';

/**
 * Renders the OS's first-boot document with a fresh single-use join token, and keeps it encrypted. A run after a crash
 * mints another token; the unused one expires.
 * @throws RailheadError INVALID_CONFIG when the profile, the template or the centre's settings lack something
 */
export async function render(run: StepRun): Promise<StepResult> {
  const { central, workflow, profile } = run;
  if (profile.userData === undefined)
    throw new RailheadError('INVALID_CONFIG', 'the profile has no userData to render', { path: 'userData' });
  const { kind } = profile.userData;
  const template = await loadTemplate(profile.userData, central.userData.templates);
  const nodeId = workflow.node_id;
  const binding = { role: 'node', nodeId, workflowId: workflow.workflow_id } as const;
  return underClaim(central.store, workflow, async (queries) => {
    const { token, joinTokenId } = await createJoinToken(queries, {
      ...binding,
      validMs: (central.userData.tokenTtlSeconds ?? defaultTokenTtlSeconds) * 1000,
    });
    const document = renderFor(central, { nodeId, joinToken: token }, kind, template);
    const userDataRef = `${userDataRefPrefix(workflow.workflow_id)}${newId('ev')}`;
    await queries
      .insertInto('secrets')
      .values({ ref: userDataRef, sealed: central.sealer.seal(document), created_at: now() })
      .execute();
    return { userDataRef, kind, joinTokenId };
  });
}
