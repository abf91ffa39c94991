import { type NextLogin, whichLogin } from '#base/logins.ts';
import type { BmcAccount } from '#contract/bmcPassword.ts';
import { BmcRefusal } from '../answers.ts';
import type { RedfishClient } from '../client.ts';
import type { Json } from '../json.ts';
import { accountService } from './findAccount.ts';

/**
 * As whom the BMC takes us, and which passwords it would take.
 * @throws RailheadError DRIVER_ERROR as every operation
 */
export async function readAccount(client: RedfishClient, next: NextLogin | undefined): Promise<BmcAccount> {
  const login = await client.whoAmI();
  return { username: login.username, ...whichLogin(login, next), ...(await lengths(client)) };
}

/** MinPasswordLength and MaxPasswordLength of the account service; 0 is no bound. */
async function lengths(client: RedfishClient): Promise<Pick<BmcAccount, 'minLength' | 'maxLength'>> {
  const { MinPasswordLength, MaxPasswordLength } = (await serviceIfShown(client)) ?? {};
  const [minLength, maxLength] = [MinPasswordLength, MaxPasswordLength].map(bound);
  return { ...(minLength !== undefined && { minLength }), ...(maxLength !== undefined && { maxLength }) };
}

function bound(value: Json | undefined): number | undefined {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined;
}

/** A BMC that does nothing before its password was changed does not show it. */
async function serviceIfShown(client: RedfishClient) {
  return accountService(client).catch((error: unknown) => {
    if (error instanceof BmcRefusal) return undefined;
    throw error;
  });
}
