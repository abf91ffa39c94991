import { isSameLogin, type Login } from '#base/logins.ts';
import { anotherUser, passwordNotStored, passwordRefused, passwordUnknown } from '#contract/bmcPassword.ts';
import { RailheadError } from '#contract/errors.ts';
import { BmcRefusal } from '../answers.ts';
import type { RedfishClient } from '../client.ts';
import { followTask } from '../task.ts';
import { findAccount } from './findAccount.ts';

/** Time for a BMC that answers before it has stored. */
const settleMs = 5000;

/**
 * Gives the account that we log in as the password of `fresh`, and proves it by a new login: neither an answer nor its absence tells what a
 * BMC has stored. What was done before is found done.
 * @throws RailheadError DRIVER_ERROR: `password-refused` (`works: current`), `not-stored`, `password-unknown` (`works: unknown`), `no-account`,
 *   or what kept it from being sent
 */
export async function setPassword(client: RedfishClient, fresh: Login, deadline: number): Promise<void> {
  client.know(fresh);
  const before = await client.whoAmI();
  if (isSameLogin(before, fresh)) return;
  if (before.username !== fresh.username) throw anotherUser(before.username, fresh.username);
  const failure = await sent(client, before.username, fresh.password, deadline);
  if (failure !== undefined && !failure.mayHaveActed) return afterRefusal(client, before, failure);
  if (await takes(client, fresh)) return;
  await client.clock.sleep(settleMs);
  if (await takes(client, fresh)) return;
  if (failure !== undefined && isInternal(failure.error)) throw passwordRefused(failure.error);
  throw failure?.error ?? passwordNotStored();
}

interface Failure {
  error: RailheadError;
  /** Whether the BMC may have stored it all the same. */
  mayHaveActed: boolean;
}

/** @throws RailheadError for what comes before: nothing was sent then */
async function sent(
  client: RedfishClient,
  username: string,
  password: string,
  deadline: number,
): Promise<Failure | undefined> {
  const account = await findAccount(client, username);
  try {
    const answer = await client.patchOnce(account, { Password: password });
    await followTask(client, answer, deadline);
    return undefined;
  } catch (error) {
    if (!(error instanceof RailheadError)) throw error;
    return { error, mayHaveActed: !(error instanceof BmcRefusal) || error.answer.status >= 500 };
  }
}

/**
 * OpenBMC answers 500 to a password that its rules refuse (openbmc/bmcweb issue 67), others after they have acted. 502 to 504 are of a gateway
 * inside the BMC, behind which the work may go on.
 */
function isInternal(error: RailheadError): boolean {
  return error instanceof BmcRefusal && error.answer.status === 500;
}

/** Whether the BMC takes this one, of the two that it may have. @throws RailheadError `password-unknown` when it takes neither */
async function takes(client: RedfishClient, login: Login): Promise<boolean> {
  await client.prefer(login);
  const taken = await client.whoAmI().catch((error: unknown) => {
    throw passwordUnknown(error);
  });
  return isSameLogin(taken, login);
}

/** The BMC said no: the old password is asked first, so that no login is refused that need not be. */
async function afterRefusal(client: RedfishClient, before: Login, { error }: Failure): Promise<void> {
  if (await takes(client, before)) throw passwordRefused(error);
}
