import type { Time } from './columns.ts';

/** What is kept encrypted. */
export interface SecretTables {
  secrets: SecretsTable;
  tenant_secrets: TenantSecretsTable;
  secret_deliveries: SecretDeliveriesTable;
}

interface SecretsTable {
  ref: string;
  sealed: Buffer;
  created_at: Time;
}

/** The secrets of tenants by name; their texts are in `secrets`, encrypted. */
interface TenantSecretsTable {
  secret_id: string;
  tenant_id: string;
  ref: string;
  version: number;
  created_at: Time;
  set_at: Time;
}

/** Which agent was given which version of a secret last. */
interface SecretDeliveriesTable {
  secret_id: string;
  agent: string;
  version: number;
  at: Time;
}
