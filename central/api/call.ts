import { RailheadError } from '#contract/errors.ts';
import { rateLimited } from '#doors/refusal.ts';
import { requireTenant } from '../tenants.ts';
import { type AskedCall, admit } from './admit.ts';
import { audited } from './auditedCall.ts';
import { whileGood } from './heldCall.ts';
import type { ApiContext, Method } from './method.ts';
import type { Caller } from './tokens.ts';

/** One call of a method, as it came in. */
export interface MethodCall extends AskedCall {
  /** `<group>.<method>` */
  name: string;
  /** Where the call came from. */
  address: string;
}

/**
 * Carries out a call: writes a mutation down before it acts and how it ended, decides whether the caller may, runs the method.
 * @throws RailheadError INVALID_INPUT, FORBIDDEN, RATE_LIMITED, NOT_FOUND for a tenant that there is not, or what the method throws
 */
export async function callMethod(
  context: ApiContext,
  method: Method,
  call: MethodCall,
  stop: AbortSignal,
): Promise<unknown> {
  const admission = decide(method, call);
  const act = () => run(context, method, call, admission, stop);
  if (method.kind === 'read') return act();
  boundRefusals(context, call, admission);
  return audited(context.store, method, call, act);
}

type Admission = { as: Caller } | { refusal: unknown };

function decide(method: Method, call: MethodCall): Admission {
  try {
    return { as: admit(method, call) };
  } catch (refusal) {
    return { refusal };
  }
}

/** Each refusal leaves a record: whoever is granted nothing must not fill the books with them. */
function boundRefusals({ refusals }: ApiContext, { caller }: MethodCall, admission: Admission): void {
  const refusal = 'refusal' in admission ? admission.refusal : undefined;
  if (!(refusal instanceof RailheadError) || refusal.code !== 'FORBIDDEN') return;
  const wait = refusals.take(caller.tokenId);
  if (wait > 0) throw rateLimited(wait, 'token');
}

async function run(
  context: ApiContext,
  method: Method,
  { input, caller }: MethodCall,
  admission: Admission,
  stop: AbortSignal,
): Promise<unknown> {
  if ('refusal' in admission) throw admission.refusal;
  const { tenantId } = input as { tenantId?: string };
  if (method.kind === 'mutation' && method.makesTenant !== true && tenantId !== undefined)
    await requireTenant(context.store, tenantId);
  if (method.waits !== true) return method.run(context, input, admission.as, stop);
  return whileGood(context, caller, stop, (until) => method.run(context, input, admission.as, until));
}
