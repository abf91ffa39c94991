import { RailheadError } from '#contract/errors.ts';
import { BmcRefusal } from '../answers.ts';
import type { RedfishClient, Resource } from '../client.ts';
import { memberLinks } from '../collection.ts';
import { asText, type JsonObject, linkOf } from '../json.ts';
import { passwordChangeAt, plainText } from '../messages.ts';
import { linkPath } from '../transport.ts';

/**
 * The account (ManagerAccount) that we log in as. Links are followed and never built: iDRAC has its accounts under the manager, in fixed
 * slots. A BMC that shows nothing before its password was changed names the account in the message that says so (DSP0266).
 * @throws RailheadError DRIVER_ERROR, reason `no-account`, or what the BMC refuses
 */
export async function findAccount(client: RedfishClient, username: string): Promise<Resource> {
  if (client.accountToChange !== undefined) return toldAccount(client, client.accountToChange, username);
  try {
    return await listedAccount(client, username);
  } catch (error) {
    const link = error instanceof BmcRefusal ? passwordChangeAt(error.messages) : undefined;
    if (link === undefined) throw error;
    return toldAccount(client, link, username);
  }
}

/** The account service, which also says how long a password may be; undefined when the BMC has none. */
export async function accountService(client: RedfishClient): Promise<JsonObject | undefined> {
  const link = linkOf((await client.root()).AccountService);
  return link === undefined ? undefined : (await client.get(link)).body;
}

/** With its entity tag where the BMC lets us read it; what can be read must be ours. */
async function toldAccount(client: RedfishClient, link: string, username: string): Promise<Resource> {
  const account = await client.get(link).catch((error: unknown): Resource => {
    if (!(error instanceof BmcRefusal) || error.answer.status !== 403) throw error;
    return { path: linkPath(client.origin, link), body: {}, tag: undefined };
  });
  const found = asText(account.body.UserName) ?? username;
  if (found === username) return account;
  throw noAccount(`it names the account of ${plainText(found)}, and Railhead logs in as ${username}`);
}

async function listedAccount(client: RedfishClient, username: string): Promise<Resource> {
  const service = await accountService(client);
  const collection = linkOf(service?.Accounts);
  if (collection === undefined) throw noAccount('it has no account service');
  for (const link of await memberLinks(client, collection)) {
    const account = await shownAccount(client, link);
    if (account !== undefined && asText(account.body.UserName) === username) return account;
  }
  throw noAccount('none of its own accounts has the name that Railhead logs in by');
}

/** Undefined for one that only others may read: whoever is no administrator sees their own account (DSP0266, ConfigureSelf). */
async function shownAccount(client: RedfishClient, link: string): Promise<Resource | undefined> {
  return client.get(link).catch((error: unknown) => {
    const isOthers = error instanceof BmcRefusal && [401, 403, 404].includes(error.answer.status);
    if (!isOthers || passwordChangeAt(error.messages) !== undefined) throw error;
    return undefined;
  });
}

function noAccount(why: string): RailheadError {
  return new RailheadError('DRIVER_ERROR', `the BMC's password cannot be changed: ${why}`, {
    reason: 'no-account',
  });
}
