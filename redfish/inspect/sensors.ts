import { known } from '#base/known.ts';
import type { OobInventory } from '#contract/oobInventory.ts';
import { asObject, type Json, type JsonObject } from '../json.ts';
import { fact, reading } from './fields.ts';
import { idOf } from './parts.ts';
import type { Reader } from './reader.ts';

type Sensors = OobInventory['sensors'];

/** Sensors by Thermal and Power, which most BMCs have; else by the resources that took their place in Redfish 2020.4. */
export async function readSensors(reader: Reader, chassis: JsonObject): Promise<Sensors> {
  const old = sensorsOf(await reader.one(chassis.Thermal), await reader.one(chassis.Power));
  if (old.temperatures.length > 0 || old.fans.length > 0) return old;
  const thermal = await reader.one(chassis.ThermalSubsystem);
  const metrics = await reader.one(thermal.ThermalMetrics);
  const fans = await reader.members(thermal.Fans);
  const environment = await reader.one(chassis.EnvironmentMetrics);
  return { ...known({ powerWatts: old.powerWatts }), ...subsystemSensorsOf(metrics, fans, environment) };
}

/** The sensors of Chassis/Thermal and Chassis/Power. */
export function sensorsOf(thermal: JsonObject, power: JsonObject): Sensors {
  const watts = list(power.PowerControl).map((control) => reading(control.PowerConsumedWatts));
  return {
    temperatures: list(thermal.Temperatures).flatMap((body) => temperature(body, body.ReadingCelsius)),
    fans: list(thermal.Fans).flatMap((body) => {
      const speed = reading(body.Reading);
      if (speed === undefined) return [];
      return [
        { name: name(body), ...(body.ReadingUnits === 'Percent' ? { percent: speed } : { rpm: speed }) },
      ];
    }),
    ...known({ powerWatts: watts.find((value) => value !== undefined) }),
  };
}

/** The same of ThermalMetrics, the fans of ThermalSubsystem and EnvironmentMetrics. */
export function subsystemSensorsOf(
  metrics: JsonObject,
  fans: readonly JsonObject[],
  environment: JsonObject,
): Sensors {
  return {
    temperatures: list(metrics.TemperatureReadingsCelsius).flatMap((body) => temperature(body, body.Reading)),
    fans: fans.flatMap((body) => {
      const { Reading, SpeedRPM } = asObject(body.SpeedPercent);
      const speeds = known({ rpm: reading(SpeedRPM), percent: reading(Reading) });
      return Object.keys(speeds).length === 0 ? [] : [{ name: name(body), ...speeds }];
    }),
    ...known({ powerWatts: reading(asObject(environment.PowerWatts).Reading) }),
  };
}

function temperature(body: JsonObject, value: Json | undefined): Sensors['temperatures'] {
  const celsius = reading(value);
  return celsius === undefined ? [] : [{ name: name(body), celsius }];
}

function list(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.map(asObject) : [];
}

function name(body: JsonObject): string {
  return fact(body.Name) ?? fact(body.FanName) ?? fact(body.DeviceName) ?? idOf(body);
}
