import { RailheadError } from '#contract/errors.ts';
import { RelayRequest } from '#contract/redfishRelay.ts';
import { relayConcern, type StepInput } from '#contract/steps.ts';
import { validate } from '#contract/validate.ts';
import { nodeDrivers } from '../../agents/hostSpec.ts';
import { driverFor } from '../../metal/driverBindings.ts';
import { underClaim } from '../claims.ts';
import { dropIsoAtSite } from '../isoAtSite.ts';
import { relay } from '../relay.ts';
import { refuseTenants } from '../shippedOnly.ts';
import type { StepResult, StepRun } from '../stepRun.ts';

/**
 * Has a driver do one operation: the driver that the profile names for the concern, else the one that the node is bound to.
 * @throws RailheadError INVALID_CONFIG when neither names one
 */
export async function invokeDriver(run: StepRun, input: StepInput<'driver.invoke'>): Promise<StepResult> {
  const { concern, operation } = input;
  if (concern === relayConcern) return relayRedfish(run, input.input);
  const result = await relay(run, 'driver.invoke', async () => ({
    concern,
    operation,
    input: input.input,
    ...(await driverOf(run, concern)),
  }));
  if (concern === 'virtual-media' && takesMediumOut.includes(operation)) await mediumIsOut(run);
  return result;
}

const takesMediumOut: readonly string[] = ['insertMedia', 'ejectMedia'];

function mediumIsOut({ central, workflow }: StepRun): Promise<void> {
  return underClaim(central.store, workflow, (queries) => dropIsoAtSite(queries, workflow));
}

async function driverOf({ central, workflow, profile }: StepRun, concern: string) {
  const bindings = await nodeDrivers(central.store, workflow.node_id);
  const driver = driverFor(concern, bindings, profile.drivers);
  if (driver !== undefined) return driver;
  const message = `neither the profile nor the node has a driver for ${concern}`;
  throw new RailheadError('INVALID_CONFIG', message, { path: `drivers.${concern}`, reason: 'no-driver' });
}

async function relayRedfish(run: StepRun, input: Record<string, unknown>): Promise<StepResult> {
  await refuseTenants(run, 'requests to BMCs are relayed by nodes.redfish alone', 'concern');
  return relay(run, 'bmc.redfish', async () => validate(RelayRequest, input));
}
