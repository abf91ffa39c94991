import { RailheadError } from '#contract/errors.ts';
import type { IpmiClient } from './client.ts';

/** What a chassis says of itself (IPMI 2.0 §28.2). */
export interface ChassisStatus {
  power: 'on' | 'off';
  /** What is wrong, in words; empty when nothing is. */
  faults: string[];
}

/**
 * Asks the chassis.
 * @throws RailheadError DRIVER_ERROR, also (`malformed`) for an answer that is none
 */
export async function chassisStatus(client: IpmiClient, signal?: AbortSignal): Promise<ChassisStatus> {
  const bytes = await client.raw([0x00, 0x01], { repeatable: true, signal });
  const status = parseChassisStatus(bytes);
  if (status !== undefined) return status;
  throw new RailheadError('DRIVER_ERROR', 'the BMC answered with no chassis status: update its firmware', {
    reason: 'malformed',
    bytes: bytes.toString('hex'),
  });
}

/** Of the answer's bytes after the completion code; undefined for fewer than three. */
export function parseChassisStatus(bytes: Buffer): ChassisStatus | undefined {
  const [power, , misc] = bytes;
  if (power === undefined || misc === undefined) return undefined;
  const faults = [
    ...faultBits.power.filter(([bit]) => (power & bit) !== 0),
    ...faultBits.misc.filter(([bit]) => (misc & bit) !== 0),
  ];
  return { power: (power & 1) === 1 ? 'on' : 'off', faults: faults.map(([, words]) => words) };
}

const faultBits = {
  power: [
    [0x02, 'power overload'],
    [0x04, 'power interlock'],
    [0x08, 'main power fault'],
    [0x10, 'power control fault'],
  ],
  misc: [
    [0x01, 'chassis intrusion'],
    [0x04, 'drive fault'],
    [0x08, 'cooling fault'],
  ],
} as const;
