import type { Json, Time } from './columns.ts';

/** Who may call the API, for whom, and what was called. */
export interface AccessTables {
  tokens: TokensTable;
  tenants: TenantsTable;
  audit: AuditTable;
}

interface TokensTable {
  token_id: string;
  name: string;
  hash: string;
  grants: Json;
  created_at: Time;
  expires_at: Time;
  revoked_at: Time | null;
  tenant_id: string | null;
  parent_id: string | null;
}

interface TenantsTable {
  tenant_id: string;
  name: string;
  created_at: Time;
}

interface AuditTable {
  audit_id: string;
  at: Time;
  /** A token's id, or `host:<user>`. */
  actor: string;
  address: string | null;
  method: string;
  action: string;
  scope: string;
  tenant_id: string | null;
  subject: Json | null;
  outcome: string;
  ended_at: Time | null;
}
