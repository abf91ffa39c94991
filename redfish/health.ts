import { visible } from '#base/visible.ts';
import type { BmcHealth } from '#contract/bmcHealth.ts';
import { asObject, asText, type JsonObject } from './json.ts';

/** What a system says of its state: the worst of its parts where it sums them up (DSP0266 §9.8.20, Status). */
export function healthOf(system: JsonObject): BmcHealth {
  const status = asObject(system.Status);
  const said = asText(status.HealthRollup) ?? asText(status.Health);
  const power = asText(system.PowerState)?.toLowerCase();
  return {
    health: said === 'Critical' || said === 'Warning' || said === 'OK' ? said : 'Unknown',
    ...((power === 'on' || power === 'off') && { power }),
    faults: conditionsOf(status),
  };
}

function conditionsOf({ Conditions }: JsonObject): string[] {
  if (!Array.isArray(Conditions)) return [];
  const texts = Conditions.flatMap((condition) => asText(asObject(condition).Message) ?? []);
  return texts.slice(0, 16).map((text) => visible(text).slice(0, 256).toWellFormed());
}
