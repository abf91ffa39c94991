import { Value } from 'typebox/value';
import { type ErrorCode, toWireError } from '#contract/errors.ts';
import { TenantId } from '#contract/images.ts';
import { type AuditedCall, beginAudit, endAudit, namesIn } from '../audit.ts';
import type { Queries } from '../store/store.ts';
import type { MethodCall } from './call.ts';
import { reaches, tenantScopes } from './grants.ts';
import type { Method } from './method.ts';

/** Writes a mutation down before it acts, and how it ended. */
export async function audited<Answer>(
  store: Queries,
  method: Method,
  call: MethodCall,
  act: () => Promise<Answer>,
): Promise<Answer> {
  const record = recordOf(method, call);
  const auditId = await beginAudit(store, record);
  const end = (outcome: 'ok' | ErrorCode, more = {}) =>
    endAudit(store, auditId, outcome, { ...record.subject, ...more });
  try {
    const answer = await act();
    await end('ok', namesIn(answer));
    return answer;
  } catch (error) {
    await end(toWireError(error).code);
    throw error;
  }
}

/** A caller decides no more of its record than what the method would have taken, and gets into no tenant's records but its own. */
function recordOf(method: Method, { name, input, fault, caller, address }: MethodCall): AuditedCall {
  const scope = fault === undefined ? method.scopes(input)[0] : undefined;
  const { tenantId } = (input ?? {}) as { tenantId?: unknown };
  const isOwn = Value.Check(TenantId, tenantId) && reaches(caller.grants, tenantScopes(tenantId));
  return {
    actor: caller.tokenId,
    address,
    method: name,
    action: method.action,
    scope: scope === undefined ? '-' : `${scope.kind}:${scope.id}`,
    ...(isOwn ? { tenantId } : {}),
    subject: namesIn(input, Object.keys((method.input as { properties?: object }).properties ?? {})),
  };
}
