const ofController = [
  'power.getPower',
  'power.setPower',
  'management.setBootDevice',
  'management.clearBootDevice',
  'management.getHealth',
  'inspect.oob',
] as const;

/** What the drivers of a site can be told to do by `driver.invoke`, as `<concern>.<operation>`. */
export const driverOperations = {
  redfish: [
    ...ofController,
    'virtual-media.insertMedia',
    'virtual-media.ejectMedia',
    'virtual-media.insertedMedia',
  ],
  ipmi: ofController,
  'wake-on-lan': ['power.setPower', 'management.setBootDevice'],
  manual: ['power.setPower', 'management.setBootDevice'],
} as const;

export type DriverName = keyof typeof driverOperations;

/** Why a driver cannot be told to do this; undefined when it can. */
export function whyNotDriven(driver: string, operation: string): string | undefined {
  if (!Object.hasOwn(driverOperations, driver))
    return `sites have no driver ${driver}: they have ${Object.keys(driverOperations).join(', ')}`;
  const known: readonly string[] = driverOperations[driver as DriverName];
  return known.includes(operation)
    ? undefined
    : `driver ${driver} does not know ${operation}: it knows ${known.join(', ')}`;
}
