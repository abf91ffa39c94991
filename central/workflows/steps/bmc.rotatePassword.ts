import { BmcAccount } from '#contract/bmcPassword.ts';
import type { BmcBinding } from '#contract/nodeSpec.ts';
import { validate } from '#contract/validate.ts';
import { newPassword, passwordLength } from '../../bmcPasswords/generate.ts';
import { keepNext } from '../../bmcPasswords/next.ts';
import { refuseSharedBmc } from '../../bmcPasswords/sharedBmc.ts';
import { parseJson } from '../../store/store.ts';
import { underClaim } from '../claims.ts';
import { relay } from '../relay.ts';
import { refuseTenants } from '../shippedOnly.ts';
import type { StepResult, StepRun } from '../stepRun.ts';

/**
 * Gives a machine's BMC a password that is its own. The BMC is asked first as whom it takes its site: that settles what an attempt before this
 * one has left, and where the BMC has the password of that one already, it is the new one. What each operation's end says about which password is
 * right goes into the books with that end: `central/bmcPasswords/settle.ts`.
 */
export async function rotatePassword(run: StepRun): Promise<StepResult> {
  await refuseTenants(run, 'passwords of BMCs are changed by nodes.rotateBmcPassword alone', 'use');
  const { node_id: nodeId, site_id: siteId, tenant_id: tenantId } = run.workflow;
  await refuseSharedBmc(run.central.store, { nodeId, siteId, tenantId });
  const found = await relay({ ...run, part: 'account' }, 'bmc.readAccount', async () => ({}));
  const account = validate(BmcAccount, found);
  if (account.works === 'current')
    await relay(run, 'bmc.setPassword', async () => ({ secret: await nextSecret(run, account) }));
  return { credentialRef: await credentialRef(run), ...(account.works === 'next' && { settled: true }) };
}

function nextSecret({ central, workflow }: StepRun, account: BmcAccount) {
  const { store, sealer } = central;
  const { username } = account;
  const password = newPassword(passwordLength(account));
  return underClaim(store, workflow, (queries) =>
    keepNext({ store: queries, sealer }, workflow.node_id, { username, password }),
  );
}

async function credentialRef({ central, workflow }: StepRun): Promise<string | undefined> {
  const { bmc } = await central.store
    .selectFrom('nodes')
    .select('bmc')
    .where('node_id', '=', workflow.node_id)
    .executeTakeFirstOrThrow();
  return parseJson<BmcBinding>(bmc)?.credentialRef;
}
