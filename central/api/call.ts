import { RailheadError, toWireError } from '#contract/errors.ts';
import { beginAudit, endAudit, namesIn } from '../audit.ts';
import { requireTenant } from '../tenants.ts';
import { grantedIds, isGranted } from './grants.ts';
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
 * @throws RailheadError INVALID_INPUT, FORBIDDEN, NOT_FOUND for a tenant that there is not, or what the method throws
 */
export async function callMethod(
  context: ApiContext,
  method: Method,
  call: MethodCall,
  stop: AbortSignal,
): Promise<unknown> {
  if (method.kind === 'read') return run(context, method, call, stop);
  const subject = namesIn(call.input);
  const auditId = await beginAudit(context.store, { ...whoAndWhat(method, call), subject });
  try {
    const data = await run(context, method, call, stop);
    await endAudit(context.store, auditId, 'ok', { ...subject, ...namesIn(data) });
    return data;
  } catch (error) {
    await endAudit(context.store, auditId, toWireError(error).code);
    throw error;
  }
}

function whoAndWhat(method: Method, { name, input, fault, caller, address }: MethodCall) {
  const scope = fault === undefined ? method.scopes(input)[0] : undefined;
  return {
    actor: caller.tokenId,
    address,
    method: name,
    action: method.action,
    scope: scope === undefined ? '-' : `${scope.kind}:${scope.id}`,
    ...tenantOf(input),
  };
}

function tenantOf(input: unknown): { tenantId?: string } {
  const { tenantId } = namesIn(input);
  return tenantId === undefined ? {} : { tenantId };
}

async function run(
  context: ApiContext,
  method: Method,
  { input, fault, caller }: MethodCall,
  stop: AbortSignal,
): Promise<unknown> {
  if (fault !== undefined) throw fault;
  const admitted = admit(method, input, caller);
  const { tenantId } = tenantOf(input);
  if (method.kind === 'mutation' && method.makesTenant !== true && tenantId !== undefined)
    await requireTenant(context.store, tenantId);
  return method.run(context, input, admitted, stop);
}

/**
 * The caller as the method is to know it: restricted to single items of a list where it is granted no more.
 * @throws RailheadError FORBIDDEN
 */
function admit(method: Method, input: unknown, caller: Caller): Caller {
  const scopes = method.scopes(input);
  if (isGranted(caller.grants, method.action, scopes)) return caller;
  const only = method.items === undefined ? [] : grantedIds(caller.grants, method.action, method.items);
  if (only.length > 0) return { ...caller, only };
  throw new RailheadError('FORBIDDEN', `this token may not do ${method.action} here`, {
    action: method.action,
    scopes: scopes.map(({ kind, id }) => `${kind}:${id}`),
  });
}
