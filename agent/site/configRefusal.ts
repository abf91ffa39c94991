import { RailheadError } from '#contract/errors.ts';

/** @throws RailheadError INVALID_CONFIG that names the field and what it must be */
export function refuse(path: string, expected: string): never {
  throw new RailheadError('INVALID_CONFIG', `${path}: ${expected}`, { path, expected });
}
