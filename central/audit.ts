import { newId } from '#contract/ids.ts';
import { now, type Queries, toJson } from './store/store.ts';
import type { Row } from './store/tables.ts';

/** A call that changes something: who, from where, what, on what. */
export interface AuditedCall {
  /** A token's id, or `host:<user>` for a command on the centre's host. */
  actor: string;
  address?: string;
  method: string;
  action: string;
  /** `<kind>:<id>`; `-` where the call was too malformed to tell. */
  scope: string;
  tenantId?: string;
  /** The ids and names that the call was given. */
  subject: Record<string, string>;
}

/** Writes down that a mutating call begins, so that one that dies in the middle leaves its record too. */
export async function beginAudit(store: Queries, call: AuditedCall): Promise<string> {
  const auditId = newId('ev');
  const { actor, address, method, action, scope, tenantId, subject } = call;
  await store
    .insertInto('audit')
    .values({
      audit_id: auditId,
      at: now(),
      actor,
      address: address ?? null,
      method,
      action,
      scope,
      tenant_id: tenantId ?? null,
      subject: toJson(subject),
      outcome: 'begun',
      ended_at: null,
    })
    .execute();
  return auditId;
}

/** `outcome`: `ok`, or the code of the error. */
export async function endAudit(
  store: Queries,
  auditId: string,
  outcome: string,
  subject?: Record<string, string>,
): Promise<void> {
  await store
    .updateTable('audit')
    .set({ outcome, ended_at: now(), ...(subject === undefined ? {} : { subject: toJson(subject) }) })
    .where('audit_id', '=', auditId)
    .execute();
}

/** A record holds no more names than that, each of no more characters. */
const maxNames = 16;
const maxNameLength = 256;

/**
 * What of a document names things: never a secret, a key or a document that may hold one. `fields`: those alone.
 */
export function namesIn(document: unknown, fields?: readonly string[]): Record<string, string> {
  if (typeof document !== 'object' || document === null) return {};
  const named = Object.entries(document).filter(
    ([field, value]) =>
      typeof value === 'string' &&
      value.length <= maxNameLength &&
      /^(ref|name|digest|use|method|path|\w{1,32}Id)$/.test(field) &&
      (fields === undefined || fields.includes(field)),
  );
  return Object.fromEntries(named.slice(0, maxNames));
}

export interface AuditQuery {
  tenantId?: string | undefined;
  actor?: string | undefined;
  /** ISO 8601; `since` is included, `until` is not. */
  since?: string | undefined;
  until?: string | undefined;
  /** The record after which to go on. */
  after?: string | undefined;
  limit: number;
}

/** Records in the order in which the calls began. */
export function auditRecords(store: Queries, query: AuditQuery): Promise<Row<'audit'>[]> {
  const { tenantId, actor, since, until, after, limit } = query;
  let rows = store.selectFrom('audit').selectAll().orderBy('audit_id').limit(limit);
  if (tenantId !== undefined) rows = rows.where('tenant_id', '=', tenantId);
  if (actor !== undefined) rows = rows.where('actor', '=', actor);
  if (since !== undefined) rows = rows.where('at', '>=', since);
  if (until !== undefined) rows = rows.where('at', '<', until);
  if (after !== undefined) rows = rows.where('audit_id', '>', after);
  return rows.execute();
}

/** A record as the API answers it and the export writes it. */
export function presentRecord(row: Row<'audit'>) {
  const { audit_id: auditId, at, actor, method, action, scope, outcome } = row;
  return {
    auditId,
    at,
    actor,
    method,
    action,
    scope,
    outcome,
    subject: JSON.parse(row.subject ?? '{}') as Record<string, string>,
    ...(row.tenant_id === null ? {} : { tenantId: row.tenant_id }),
    ...(row.address === null ? {} : { address: row.address }),
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at }),
  };
}
