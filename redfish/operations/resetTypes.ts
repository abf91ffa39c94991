import type { PowerAction } from '#contract/steps.ts';
import { isSuccess } from '../answers.ts';
import type { RedfishClient } from '../client.ts';
import { asObject, asText, asTexts, type JsonObject } from '../json.ts';
import { linkPath } from '../transport.ts';

export interface ResetAction {
  target: string;
  /** Undefined when the BMC does not say: unknown is not none. */
  allowed: string[] | undefined;
}

/**
 * The values of ResetType that carry out an action, the best first. PushPowerButton asks the OS like
 * GracefulShutdown does.
 */
const candidates: Record<Exclude<PowerAction, 'cycle'>, readonly string[]> = {
  on: ['On', 'ForceOn'],
  off: ['ForceOff'],
  'graceful-off': ['GracefulShutdown', 'PushPowerButton'],
  reset: ['ForceRestart', 'PowerCycle'],
  'graceful-restart': ['GracefulRestart'],
  nmi: ['Nmi'],
};

/**
 * What to send for an action, in the order to try, out of what the BMC allows. For `cycle` of a running machine
 * this may be nothing: off and on then.
 */
export function resetTypesFor(action: PowerAction, allowed: readonly string[] | undefined): string[] {
  const wanted = candidates[action === 'cycle' ? 'reset' : action];
  return allowed === undefined ? [...wanted] : wanted.filter((type) => allowed.includes(type));
}

/**
 * How the BMC wants to be told of a reset: the values in the action itself, else in its ActionInfo (BlueField),
 * else unknown (iLO 4 has neither). Undefined when there is no reset action at all.
 */
export async function findResetAction(
  client: RedfishClient,
  system: JsonObject,
): Promise<ResetAction | undefined> {
  const action = asObject(asObject(system.Actions)['#ComputerSystem.Reset']);
  const target = asText(action.target);
  if (target === undefined) return undefined;
  const inline = asTexts(action['ResetType@Redfish.AllowableValues']);
  const allowed =
    inline.length > 0 ? inline : await fromActionInfo(client, asText(action['@Redfish.ActionInfo']));
  return { target, allowed: allowed.length > 0 ? allowed : undefined };
}

async function fromActionInfo(client: RedfishClient, link: string | undefined): Promise<string[]> {
  if (link === undefined) return [];
  const answer = await client.read(linkPath(client.origin, link));
  if (!isSuccess(answer)) return [];
  const { Parameters } = asObject(answer.body);
  const parameters = (Array.isArray(Parameters) ? Parameters : []).map(asObject);
  return asTexts(parameters.find((parameter) => parameter.Name === 'ResetType')?.AllowableValues);
}
