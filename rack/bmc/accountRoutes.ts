import type { FastifyInstance } from 'fastify';
import { Account } from './account.ts';
import { collection } from './collection.ts';
import { extendedInfo, RedfishError } from './errors.ts';
import { accountPath, accountsPath } from './paths.ts';
import type { BmcParts } from './server.ts';
import { rulesFor } from './spoil.ts';

const service = '/redfish/v1/AccountService';

/** Who may use the BMC: one account, which may be given another password. */
export function accountRoutes(app: FastifyInstance, { account, sessions }: BmcParts): void {
  app.get(service, () => ({
    '@odata.id': service,
    '@odata.type': '#AccountService.v1_15_0.AccountService',
    Id: 'AccountService',
    Name: 'Account Service',
    MinPasswordLength: Account.minLength,
    MaxPasswordLength: Account.maxLength,
    Accounts: { '@odata.id': accountsPath },
  }));
  app.get(accountsPath, () => collection(accountsPath, 'ManagerAccount', [accountPath]));
  app.get(accountPath, (_request, reply) => {
    reply.header('etag', entityTag(account));
    return accountResource(account);
  });
  app.patch<{ Body: unknown }>(accountPath, async (request, reply) => {
    mustMatch(request.headers['if-match'], account);
    const password = wantedPassword(request.body);
    if (!rulesFor(request).some(({ stores }) => stores === 'nothing')) {
      account.change(password);
      // As iDRAC does: a session of the old password opens nothing any more.
      for (const id of sessions.ids()) sessions.close(id);
    }
    return reply.code(204).send();
  });
}

/** What a BMC says to everything while its password must be changed first; the account is named in it. */
export function passwordChangeRequired(): RedfishError {
  return new RedfishError(403, 'PasswordChangeRequired', { args: [accountPath] });
}

/** What a login is told then, beside its session. */
export function passwordChangeNote({ changeRequired }: Account): Record<string, unknown> {
  if (!changeRequired) return {};
  return { '@Message.ExtendedInfo': [extendedInfo('PasswordChangeRequired', { args: [accountPath] })] };
}

function entityTag({ changes }: Account): string {
  return `"${changes}"`;
}

function mustMatch(given: string | undefined, account: Account): void {
  if (given === undefined && account.demandsTag) throw new RedfishError(428, 'PreconditionRequired');
  if (given === undefined || given === '*' || given === entityTag(account)) return;
  throw new RedfishError(412, 'PreconditionFailed');
}

/** @throws RedfishError 400 for what is no password of the length that the service tells, as real ones quote it: not at all */
function wantedPassword(body: unknown): string {
  const { Password } = (body ?? {}) as Record<string, unknown>;
  const isFit =
    typeof Password === 'string' &&
    Password.length >= Account.minLength &&
    Password.length <= Account.maxLength;
  if (isFit) return Password;
  const about = { args: ['******', 'Password'], properties: ['Password'] };
  throw new RedfishError(400, 'PropertyValueFormatError', about);
}

function accountResource({ username, changeRequired }: Account): Record<string, unknown> {
  return {
    '@odata.id': accountPath,
    '@odata.type': '#ManagerAccount.v1_12_0.ManagerAccount',
    Id: '2',
    Name: 'User Account',
    UserName: username,
    Password: null,
    PasswordChangeRequired: changeRequired,
    RoleId: 'Administrator',
    Enabled: true,
    Locked: false,
  };
}
