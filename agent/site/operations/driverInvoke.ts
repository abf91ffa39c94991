import { type DriverName, type driverOperations, whyNotDriven } from '#contract/driverOperations.ts';
import { RailheadError } from '#contract/errors.ts';
import { type OperationInput, operations } from '#contract/operations.ts';
import { validate } from '#contract/validate.ts';
import { drivenBy } from '../drivers/boundNode.ts';
import type { ActionContext, SiteAction, SiteActionName } from './action.ts';
import { clearBootDevice } from './clearBootDevice.ts';
import { driverEjectMedia, driverInsertedMedia, driverInsertMedia } from './driverMedia.ts';
import { getHealth } from './getHealth.ts';
import { getPower } from './getPower.ts';
import { inspectOob } from './inspectOob.ts';
import { setBootDevice } from './setBootDevice.ts';
import { setPower } from './setPower.ts';

const ofController = {
  'power.getPower': getPower,
  'power.setPower': setPower,
  'management.setBootDevice': setBootDevice,
  'management.clearBootDevice': clearBootDevice,
  'management.getHealth': getHealth,
  'inspect.oob': inspectOob,
} as const;
const ofHands = { 'power.setPower': setPower, 'management.setBootDevice': setBootDevice } as const;

const drivers = {
  redfish: {
    ...ofController,
    'virtual-media.insertMedia': driverInsertMedia,
    'virtual-media.ejectMedia': driverEjectMedia,
    'virtual-media.insertedMedia': driverInsertedMedia,
  },
  ipmi: ofController,
  'wake-on-lan': ofHands,
  manual: ofHands,
} as const satisfies {
  [Driver in DriverName]: { [Name in (typeof driverOperations)[Driver][number]]: SiteAction<Name> };
};

type Invocation = OperationInput<'driver.invoke'>;

/** Has a driver do one thing to the node's BMC, as the site's own action of that name does. */
export const driverInvoke: SiteAction<'driver.invoke'> = {
  run: async (invocation, context) => {
    const { action, input, driven } = resolved(invocation, context);
    return action.run(input, driven);
  },
  settle: async (invocation, context, startedAt) => {
    const { action, input, driven } = resolved(invocation, context);
    return action.settle(input, driven, startedAt);
  },
};

/** @throws RailheadError UNSUPPORTED for a driver, an operation or another BMC than the node's, INVALID_INPUT for its input */
function resolved(invocation: Invocation, context: ActionContext) {
  const { concern, driver, operation, input, config } = invocation;
  const name = `${concern}.${operation}`;
  const why = whyNotDriven(driver, name);
  if (why !== undefined) throw new RailheadError('UNSUPPORTED', why, { driver, operation: name });
  // The compiler cannot tie the name to its input inside a generic call; the schema just has.
  const known: Record<string, unknown> = drivers[driver as DriverName];
  const action = known[name] as SiteAction<SiteActionName>;
  const driven = byDriver(context, driver as DriverName, config.address);
  return { action, input: validate(operations[name as SiteActionName].input, input) as never, driven };
}

function byDriver(context: ActionContext, driver: DriverName, address: unknown): ActionContext {
  if (context.node === undefined) return context;
  const node = drivenBy(context.node, driver, address);
  return { ...context, node, withBmc: (work) => context.withBmc(work, node) };
}
