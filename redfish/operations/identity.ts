import { asText } from '../json.ts';
import { type Machine, type Power, waitForPower } from './powerState.ts';

export interface BmcIdentity {
  /** Lower case; for identity only, many boards share one. */
  uuid?: string;
  serial?: string;
  manufacturer?: string;
  model?: string;
  powerState: Power;
}

/** Which machine is this? What the BMC does not know, or leaves empty, is left out. */
export async function readIdentity(machine: Machine, deadline: number): Promise<BmcIdentity> {
  const powerState = await waitForPower(machine, ['on', 'off'], deadline);
  const { body } = await machine.client.get(machine.path);
  return {
    ...known('uuid', asText(body.UUID)?.toLowerCase()),
    ...known('serial', asText(body.SerialNumber)),
    ...known('manufacturer', asText(body.Manufacturer)),
    ...known('model', asText(body.Model)),
    powerState,
  };
}

function known<Name extends string>(name: Name, value: string | undefined): { [key in Name]?: string } {
  const text = value?.trim() ?? '';
  return (text === '' ? {} : { [name]: text }) as { [key in Name]?: string };
}
