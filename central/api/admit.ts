import { RailheadError } from '#contract/errors.ts';
import { grantedIds, isGranted, mayAct, type Scope } from './grants.ts';
import type { Method } from './method.ts';
import type { Caller } from './tokens.ts';

/** A call before it is known whether it is let in. */
export interface AskedCall {
  input: unknown;
  /** What is wrong with the input by the method's schema. */
  fault: Error | undefined;
  caller: Caller;
}

/**
 * The caller as the method is to know it: restricted to single items of a list where it is granted no more. What is wrong with a call
 * is told to those alone who may do such a thing somewhere.
 * @throws RailheadError FORBIDDEN, or the fault
 */
export function admit(method: Method, { input, fault, caller }: AskedCall): Caller {
  const { action, items } = method;
  if (!mayAct(caller.grants, action))
    throw forbidden(action, fault === undefined ? method.scopes(input) : []);
  if (fault !== undefined) throw fault;
  const scopes = method.scopes(input);
  if (isGranted(caller.grants, action, items === undefined ? scopes : [...scopes, everyOf(items)]))
    return caller;
  const only = items === undefined ? [] : grantedIds(caller.grants, action, items);
  if (only.length > 0) return { ...caller, only };
  throw forbidden(action, scopes);
}

/** What a grant on every thing of a kind is about. */
function everyOf(kind: Scope['kind']): Scope {
  return { kind, id: '*' };
}

function forbidden(action: string, scopes: readonly Scope[]): RailheadError {
  return new RailheadError('FORBIDDEN', `this token may not do ${action} here`, {
    action,
    scopes: scopes.map(({ kind, id }) => `${kind}:${id}`),
  });
}
