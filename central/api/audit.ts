import { newId } from '#contract/ids.ts';
import { now, type Queries } from '../store/store.ts';
import type { Scope } from './grants.ts';

/** One mutating call: who, what, on what. */
export interface AuditedCall {
  tokenId: string;
  method: string;
  action: string;
  scope: Scope;
}

/** Writes down that a mutating call begins, so that one that dies in the middle leaves its record too. */
export async function beginAudit(store: Queries, call: AuditedCall): Promise<string> {
  const auditId = newId('ev');
  const { tokenId, method, action, scope } = call;
  await store
    .insertInto('audit')
    .values({
      audit_id: auditId,
      at: now(),
      token_id: tokenId,
      method,
      action,
      scope: `${scope.kind}:${scope.id}`,
      outcome: 'begun',
    })
    .execute();
  return auditId;
}

/** `outcome`: `ok`, or the code of the error. */
export async function endAudit(store: Queries, auditId: string, outcome: string): Promise<void> {
  await store.updateTable('audit').set({ outcome }).where('audit_id', '=', auditId).execute();
}
