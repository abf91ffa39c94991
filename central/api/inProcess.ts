import { callMethod } from './call.ts';
import { inProcessCheck } from './checkInput.ts';
import type { ApiContext, Group, Method } from './method.ts';
import { authenticate } from './tokens.ts';

/** Every method by group and name, as a function of a bearer token and an input. */
export type Groups = Readonly<
  Record<string, Readonly<Record<string, (credential: string, input?: unknown) => Promise<unknown>>>>
>;

/**
 * The API without HTTP, for who embeds the centre: a call is authorised, validated and written down as one that comes in by the
 * door; only the rates of the door do not hold. What a method refuses is thrown.
 */
export function inProcessApi(
  context: ApiContext,
  groups: Readonly<Record<string, Group>>,
  stop: AbortSignal,
): Groups {
  return mapValues(groups, (group, groupName) =>
    mapValues(
      group,
      (method, name) =>
        (credential: string, input: unknown = {}) =>
          call(context, method, `${groupName}.${name}`, credential, input, stop),
    ),
  );
}

async function call(
  context: ApiContext,
  method: Method,
  name: string,
  credential: string,
  input: unknown,
  stop: AbortSignal,
): Promise<unknown> {
  const caller = await authenticate(context.store, `Bearer ${credential}`);
  const checked = checkInput(method, input);
  return callMethod(context, method, { name, ...checked, caller, address: 'in-process' }, stop);
}

function checkInput(method: Method, input: unknown): { input: unknown; fault: Error | undefined } {
  try {
    return { input: inProcessCheck(method.input)(input), fault: undefined };
  } catch (fault) {
    return { input, fault: fault as Error };
  }
}

function mapValues<Value, Mapped>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value, name: string) => Mapped,
): Record<string, Mapped> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
}
