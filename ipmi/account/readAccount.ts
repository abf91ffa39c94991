import { type NextLogin, whichLogin } from '#base/logins.ts';
import type { BmcAccount } from '#contract/bmcPassword.ts';
import type { IpmiClient } from '../client.ts';

/** What every IPMI password fits into: the BMCs of IPMI 1.5 keep 16 bytes, those of 2.0 may keep 20 (§22.30). */
const maxLength = 16;

/**
 * As whom the BMC takes us, and which passwords it would take.
 * @throws RailheadError DRIVER_ERROR as every operation
 */
export async function readAccount(client: IpmiClient, next: NextLogin | undefined): Promise<BmcAccount> {
  const login = await client.whoAmI();
  return { username: login.username, ...whichLogin(login, next), maxLength };
}
