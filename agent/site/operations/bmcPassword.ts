import { RailheadError } from '#contract/errors.ts';
import { credentialsFrom } from '../secrets/files.ts';
import { repeatable, type SiteAction } from './action.ts';

/** Asks the BMC as whom it takes the site. */
export const readAccount: SiteAction<'bmc.readAccount'> = {
  run: async (_input, { node, withBmc, settleFormer }) => {
    const account = await withBmc((bmc, limits) => bmc.readAccount?.(limits) ?? withoutPassword());
    return { ...(node === undefined ? account : settleFormer(node, account)) };
  },
  settle: repeatable,
};

/**
 * Gives the BMC a new password. The site has it on its disk, encrypted, before the BMC gets it, and until the centre says that it has it for
 * the node's own: so whatever ends in the middle of it, one of the two passwords that are here is right.
 */
export const setPassword: SiteAction<'bmc.setPassword'> = {
  run: async ({ secret }, { withBmc, secretText }) => {
    const fresh = credentialsFrom(await secretText(secret), `secret ${secret.secretId}`);
    await withBmc((bmc) => bmc.setPassword?.(fresh) ?? withoutPassword());
    return { secretId: secret.secretId };
  },
  settle: repeatable,
};

async function withoutPassword(): Promise<never> {
  throw new RailheadError('UNSUPPORTED', 'what drives this machine has no password', {
    reason: 'no-password',
  });
}
