import Type, { type Static } from 'typebox';
import { bindingIssue, boundDriver, hasController } from '#contract/bmcBinding.ts';
import { RailheadError } from '#contract/errors.ts';
import type { Issue } from '#contract/findIssues.ts';
import { BmcBinding, bmcDrivers } from '#contract/nodeSpec.ts';
import { issueError } from '#contract/validate.ts';
import { putFirst, type SecretStore } from '../secrets.ts';

const closed = { additionalProperties: false };

export const BmcCredentials = Type.Object(
  {
    username: Type.String({ pattern: '^[^:\\r\\n]{1,128}$' }),
    password: Type.String({ pattern: '^[^\\r\\n]{0,1024}$' }),
  },
  closed,
);
export type BmcCredentials = Static<typeof BmcCredentials>;

/** A BMC as an operator names it. The driver may be left out: the scheme of the address tells it. */
export const WrittenBmc = Type.Object(
  {
    ...BmcBinding.properties,
    driver: Type.Optional(Type.Enum([...bmcDrivers])),
    /** Has the BMC given a password of its own in the place of what `credentialRef` names, e.g. of what it came with from its factory. */
    changePassword: Type.Optional(Type.Boolean()),
  },
  closed,
);
export type WrittenBmc = Static<typeof WrittenBmc>;

/**
 * The binding that was written, with its driver.
 * @throws RailheadError INVALID_INPUT for one that its driver cannot use
 */
export function boundBmc({ changePassword = false, ...binding }: WrittenBmc): BmcBinding {
  const bmc = boundDriver(binding);
  const issue = bindingIssue(bmc) ?? passwordIssue(bmc, changePassword);
  if (issue !== undefined) throw issueError(issue, 'INVALID_INPUT');
  return bmc;
}

function passwordIssue(bmc: BmcBinding, changePassword: boolean): Issue | undefined {
  if (!changePassword || hasController(bmc)) return undefined;
  return {
    path: 'bmc.changePassword',
    message: `driver ${bmc.driver} has no BMC whose password could be changed`,
  };
}

/**
 * Keeps the credentials that were given with a BMC as what its `credentialRef` names. Run it in a transaction.
 * @throws RailheadError INVALID_INPUT when no BMC was given, CONFLICT when that name holds others
 */
export async function keepCredentials(
  place: SecretStore,
  {
    tenantId,
    bmc,
    bmcCredentials,
  }: { tenantId: string; bmc?: BmcBinding | undefined; bmcCredentials?: BmcCredentials | undefined },
): Promise<void> {
  if (bmcCredentials === undefined) return;
  const ref = bmc?.credentialRef;
  if (ref === undefined)
    throw new RailheadError('INVALID_INPUT', 'bmcCredentials are for a bmc: say where it is', {
      path: 'bmc',
    });
  const { username, password } = bmcCredentials;
  await putFirst(place, { tenantId, ref }, `${username}:${password}`);
}
