import type { Command } from 'commander';
import { RailheadError } from '#contract/errors.ts';
import { callAndPrint, given, type TenantFlags } from '../call.ts';
import { type CliEnvironment, tenantCommand } from '../client.ts';
import { type BmcFlags, bmcBinding, bmcOptions, credentialsIn } from './bmcFlags.ts';

interface SetBmcFlags extends TenantFlags, BmcFlags {
  none?: boolean;
  force?: boolean;
}

/** `railhead metal set-bmc NODE`: what a machine's BMC is from now on, all of it. */
export function setBmcCommand(environment: CliEnvironment): Command {
  const command = tenantCommand(
    'set-bmc',
    'say what the BMC of a machine is, after it or its mainboard was replaced; what is left out is as at enrolment without it',
  ).argument('<node-id>');
  return bmcOptions(command)
    .option('--none', 'it has none any more')
    .option('--force', 'also in the middle of a change of its password: forget what it may have been given')
    .action(async (nodeId: string, flags: SetBmcFlags) => {
      const bmc = wanted(flags);
      const bmcCredentials = await credentialsIn(flags.bmcCredentialsFile);
      const { tenant: tenantId, force } = flags;
      const input = given({ tenantId, nodeId, bmc, bmcCredentials, force });
      await callAndPrint(environment, flags, 'metal.setBmc', input);
    });
}

/** Nothing said is no wish to have the BMC taken away. */
function wanted(flags: SetBmcFlags): object | null {
  const binding = bmcBinding(flags);
  if ((binding === undefined) === (flags.none === true)) return binding ?? null;
  const path = '--none';
  throw new RailheadError('INVALID_INPUT', `say what its BMC is, e.g. --bmc-address, or ${path}`, { path });
}
