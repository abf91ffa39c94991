import type { OobInventory } from '#contract/oobInventory.ts';

/** A sensor with a reading; `state` as ipmitool has it: `ok`, `nc`, `cr`, `nr`, `ns`. */
export interface Sensor {
  name: string;
  value: number;
  unit: string;
  state: string;
}

/** The sensors of `ipmitool -c sdr list full`; those without a number, and lines that are none, are left out. */
export function parseSensors(text: string): Sensor[] {
  return text.split('\n').flatMap((line) => {
    const [name = '', reading = '', unit = '', state = ''] = line.trim().split(',');
    const value = reading.trim() === '' ? Number.NaN : Number(reading);
    return name === '' || !Number.isFinite(value) ? [] : [{ name, value, unit, state }];
  });
}

/** By the units of inspect.oob: degrees C, RPM, Watts. */
export function sensorsOf(sensors: readonly Sensor[]): OobInventory['sensors'] {
  const watts = sensors.filter(({ unit, name }) => unit === 'Watts' && /pwr|power|consumption/i.test(name));
  const [power] = watts;
  return {
    temperatures: sensors
      .filter(({ unit }) => unit === 'degrees C')
      .map(({ name, value }) => ({ name, celsius: value })),
    fans: sensors.flatMap(({ name, value, unit }): OobInventory['sensors']['fans'] => {
      if (unit === 'RPM') return [{ name, rpm: value }];
      return unit === 'percent' && /fan/i.test(name) ? [{ name, percent: value }] : [];
    }),
    ...(power !== undefined && { powerWatts: power.value }),
  };
}

/** Redfish's words: what a chassis calls a fault is Critical, and so is a sensor past a critical threshold. */
export function healthOf(
  faults: readonly string[],
  sensors: readonly Sensor[],
): 'OK' | 'Warning' | 'Critical' {
  const states = new Set(sensors.map(({ state }) => state));
  const isCritical =
    faults.some((fault) => fault !== 'chassis intrusion') || states.has('cr') || states.has('nr');
  if (isCritical) return 'Critical';
  return faults.length > 0 || states.has('nc') ? 'Warning' : 'OK';
}
