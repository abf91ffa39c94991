import { RailheadError, toWireError } from '#contract/errors.ts';
import { beginAudit, endAudit } from './audit.ts';
import { fleet, isGranted } from './grants.ts';
import type { ApiContext, Method } from './method.ts';
import type { Caller } from './tokens.ts';

/** One call of a method, as it came in. */
export interface MethodCall {
  /** `<group>.<method>` */
  name: string;
  input: unknown;
  /** What is wrong with the input by the method's schema. */
  fault: Error | undefined;
  caller: Caller;
  /** Where the call came from. */
  address: string;
}

/**
 * Carries out a call: writes a mutation down before it acts and how it ended, decides whether the caller may, runs the method.
 * @throws RailheadError INVALID_INPUT, FORBIDDEN, or what the method throws
 */
export async function callMethod(
  context: ApiContext,
  method: Method,
  call: MethodCall,
  stop: AbortSignal,
): Promise<unknown> {
  if (method.kind === 'read') return run(context, method, call, stop);
  const scope = (call.fault === undefined && method.scopes(call.input)[0]) || fleet;
  const { tokenId } = call.caller;
  const auditId = await beginAudit(context.store, {
    tokenId,
    method: call.name,
    action: method.action,
    scope,
  });
  try {
    const data = await run(context, method, call, stop);
    await endAudit(context.store, auditId, 'ok');
    return data;
  } catch (error) {
    await endAudit(context.store, auditId, toWireError(error).code);
    throw error;
  }
}

async function run(
  context: ApiContext,
  method: Method,
  { input, fault, caller }: MethodCall,
  stop: AbortSignal,
): Promise<unknown> {
  if (fault !== undefined) throw fault;
  const scopes = method.scopes(input);
  if (!isGranted(caller.grants, method.action, scopes))
    throw new RailheadError('FORBIDDEN', `this token may not do ${method.action} here`, {
      action: method.action,
      scopes: scopes.map(({ kind, id }) => `${kind}:${id}`),
    });
  return method.run(context, input, caller, stop);
}
