import { RailheadError } from '#contract/errors.ts';

export type PowerState = 'On' | 'Off';

/** Redfish's ResetType values that these BMCs know (Resource schema, ResetType). */
export const resetTypes = [
  'On',
  'ForceOff',
  'GracefulShutdown',
  'ForceRestart',
  'GracefulRestart',
  'PowerCycle',
  'Nmi',
] as const;
export type ResetType = (typeof resetTypes)[number];

export function isResetType(value: unknown): value is ResetType {
  return resetTypes.some((type) => type === value);
}

/** On while on and off while off are no errors: the machine is as asked. */
const worksWhenOff: readonly ResetType[] = ['On', 'ForceOff', 'GracefulShutdown'];

/** Why an action cannot be carried out in this state; undefined when it can. */
export function powerRefusal(action: ResetType, state: PowerState): RailheadError | undefined {
  if (state === 'On' || worksWhenOff.includes(action)) return undefined;
  return new RailheadError('INVALID_STATE', `the machine is off: ${action} needs it on; use On`, {
    reason: 'powered-off',
    action,
  });
}
