import { isSameLogin, type Login } from '#base/logins.ts';
import { anotherUser, passwordNotStored, passwordRefused, passwordUnknown } from '#contract/bmcPassword.ts';
import { RailheadError } from '#contract/errors.ts';
import type { IpmiClient } from '../client.ts';
import { findUser } from './findUser.ts';

const passwordBytes = 16;
/** Time for a BMC that answers before it has stored. */
const settleMs = 5000;

/**
 * Gives the user that we log in as the password of `fresh` (Set User Password, IPMI 2.0 §22.30), and proves it by a new session. What was done
 * before is found done.
 * @throws RailheadError DRIVER_ERROR: `password-refused` (`works: current`), `not-stored`, `password-unknown` (`works: unknown`), `no-account`;
 *   INVALID_CONFIG, reason `password-length`; or what kept it from being sent
 */
export async function setPassword(client: IpmiClient, fresh: Login): Promise<void> {
  const bytes = passwordData(fresh.password);
  client.know(fresh);
  const before = await client.whoAmI();
  if (isSameLogin(before, fresh)) return;
  if (before.username !== fresh.username) throw anotherUser(before.username, fresh.username);
  const user = await findUser(client, before.username);
  const failure = await sent(client, [0x06, 0x47, user, 0x02, ...bytes]);
  if (failure?.details.reason === 'refused') return afterRefusal(client, before, failure);
  if (await takes(client, fresh)) return;
  await client.clock.sleep(settleMs);
  if (await takes(client, fresh)) return;
  throw failure ?? passwordNotStored();
}

/** The 16 bytes of a password: the form that every BMC knows, also those of IPMI 1.5. */
function passwordData(password: string): Buffer {
  const data = Buffer.alloc(passwordBytes);
  if (Buffer.byteLength(password) <= passwordBytes) {
    data.write(password);
    return data;
  }
  throw new RailheadError('INVALID_CONFIG', `an IPMI password of ours has at most ${passwordBytes} bytes`, {
    reason: 'password-length',
  });
}

async function sent(client: IpmiClient, bytes: readonly number[]): Promise<RailheadError | undefined> {
  try {
    await client.rawHidden(bytes, 'user set password');
    return undefined;
  } catch (error) {
    if (error instanceof RailheadError) return error;
    throw error;
  }
}

/** Whether the BMC takes this one, of the two that it may have. @throws RailheadError `password-unknown` when it takes neither */
async function takes(client: IpmiClient, login: Login): Promise<boolean> {
  client.prefer(login);
  const taken = await client.whoAmI().catch((error: unknown) => {
    throw passwordUnknown(error);
  });
  return isSameLogin(taken, login);
}

/** The BMC said no: the old password is asked first, so that no login is refused that need not be. */
async function afterRefusal(client: IpmiClient, before: Login, failure: RailheadError): Promise<void> {
  if (await takes(client, before)) throw passwordRefused(failure);
}
