import { RailheadError } from '#contract/errors.ts';
import type { StepInput } from '#contract/steps.ts';
import { nodeDrivers } from '../../agents/hostSpec.ts';
import { driverFor } from '../../metal/driverBindings.ts';
import { relay } from '../relay.ts';
import type { StepResult, StepRun } from '../stepRun.ts';

/**
 * Has a driver do one operation: the driver that the profile names for the concern, else the one that the node is bound to.
 * @throws RailheadError INVALID_CONFIG when neither names one
 */
export function invokeDriver(run: StepRun, input: StepInput<'driver.invoke'>): Promise<StepResult> {
  const { concern, operation } = input;
  return relay(run, 'driver.invoke', async () => ({
    concern,
    operation,
    input: input.input,
    ...(await driverOf(run, concern)),
  }));
}

async function driverOf({ central, workflow, profile }: StepRun, concern: string) {
  const bindings = await nodeDrivers(central.store, workflow.node_id);
  const driver = driverFor(concern, bindings, profile.drivers);
  if (driver !== undefined) return driver;
  const message = `neither the profile nor the node has a driver for ${concern}`;
  throw new RailheadError('INVALID_CONFIG', message, { path: `drivers.${concern}`, reason: 'no-driver' });
}
