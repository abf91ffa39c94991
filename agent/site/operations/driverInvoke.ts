import { RailheadError } from '#contract/errors.ts';
import { type OperationInput, operations } from '#contract/operations.ts';
import { validate } from '#contract/validate.ts';
import type { ActionContext, SiteAction, SiteActionName } from './action.ts';
import { getPower } from './getPower.ts';
import { inspectOob } from './inspectOob.ts';
import { setBootDevice } from './setBootDevice.ts';
import { setPower } from './setPower.ts';

/** What the drivers of this site can be told to do, as `<concern>.<operation>`. */
const drivers = {
  redfish: {
    'power.getPower': getPower,
    'power.setPower': setPower,
    'management.setBootDevice': setBootDevice,
    'inspect.oob': inspectOob,
  },
} as const;

type Invocation = OperationInput<'driver.invoke'>;

/** Has a driver do one thing to the node's BMC, as the site's own action of that name does. */
export const driverInvoke: SiteAction<'driver.invoke'> = {
  run: async (invocation, context) => {
    const { action, input } = resolved(invocation, context);
    return action.run(input, context);
  },
  settle: async (invocation, context, startedAt) => {
    const { action, input } = resolved(invocation, context);
    return action.settle(input, context, startedAt);
  },
};

/** @throws RailheadError UNSUPPORTED for a driver, an operation or another BMC than the node's, INVALID_INPUT for its input */
function resolved(invocation: Invocation, context: ActionContext) {
  const { concern, driver, operation, input, config } = invocation;
  const known: Record<string, unknown> = Object.hasOwn(drivers, driver) ? drivers.redfish : {};
  const name = `${concern}.${operation}`;
  if (!Object.hasOwn(known, name)) throw unknownOperation(driver, name, Object.keys(known));
  const { address } = context.node?.bmc ?? {};
  if (config.address !== undefined && config.address !== address) throw anotherBmc(config.address);
  // The compiler cannot tie the name to its input inside a generic call; the schema just has.
  const action = known[name] as SiteAction<SiteActionName>;
  return { action, input: validate(operations[name as SiteActionName].input, input) as never };
}

function unknownOperation(driver: string, name: string, known: string[]): RailheadError {
  const message =
    known.length === 0
      ? `this site has no driver ${driver}: it has ${Object.keys(drivers).join(', ')}`
      : `driver ${driver} does not know ${name}: it knows ${known.join(', ')}`;
  return new RailheadError('UNSUPPORTED', message, { driver, operation: name });
}

function anotherBmc(address: unknown): RailheadError {
  const message = `${address} is not the BMC that the node was enrolled with: leave config.address out`;
  return new RailheadError('UNSUPPORTED', message, { path: 'config.address', reason: 'another-bmc' });
}
