import type { Generated } from 'kysely';
import type { OperationOutcome } from '#contract/operations.ts';
import type { Json, Time } from './columns.ts';

/** Recipes, their runs, and what happened in them. */
export interface WorkflowTables {
  profiles: ProfilesTable;
  workflows: WorkflowsTable;
  workflow_steps: WorkflowStepsTable;
  operations: OperationsTable;
  events: EventsTable;
}

interface ProfilesTable {
  tenant_id: string;
  profile_id: string;
  version: number;
  document: Json;
  visibility: 'private' | 'public';
  used_at: Time | null;
  created_at: Time;
  /** Counts the changes of this row, for `ifVersion`. */
  row_version: Generated<number>;
  /** Since when it is hidden from new workflows. */
  deleted_at: Time | null;
}

interface WorkflowsTable {
  workflow_id: string;
  tenant_id: string;
  node_id: string;
  site_id: string;
  profile: Json;
  profile_tenant_id: string;
  disk: Json | null;
  /** What its end makes of the node (central/metal/states.ts); null: nothing. */
  settles: Json | null;
  state: 'running' | 'succeeded' | 'failed' | 'cancelled';
  error: Json | null;
  created_by: string;
  created_at: Time;
  finished_at: Time | null;
  cancel_requested_at: Time | null;
  cancelled_by: string | null;
  /** When its events were removed, after their time; null: they are there. */
  events_removed_at: Time | null;
}

interface WorkflowStepsTable {
  workflow_id: string;
  position: number;
  step_id: string;
  phase: 'main' | 'cleanup';
  step: Json;
  state: 'pending' | 'running' | 'succeeded' | 'failed' | 'skipped' | 'cancelled';
  attempt: Generated<number>;
  not_before: Time | null;
  started_at: Time | null;
  deadline: Time | null;
  finished_at: Time | null;
  result: Json | null;
  error: Json | null;
}

interface OperationsTable {
  operation_id: string;
  site_id: string;
  node_id: string;
  step_id: string;
  workflow_id: string;
  attempt: number;
  target: 'site' | 'ramdisk' | 'node';
  /** Which of several operations of one attempt; empty for the only one. */
  part: string;
  action: string;
  /** The whole operation, encrypted: its input may hold user data. */
  sealed: Buffer;
  join_id: string | null;
  created_at: Time;
  expires_at: Time;
  taken_at: Time | null;
  cancel_requested_at: Time | null;
  cancel_told_at: Time | null;
  /** What an operator is asked to do by hand; null: nothing. */
  asked: string | null;
  /** When an operator said that it was done. */
  confirmed_at: Time | null;
  confirm_told_at: Time | null;
  progress: Json | null;
  outcome: OperationOutcome | null;
  result: Json | null;
  error: Json | null;
  finished_at: Time | null;
}

interface EventsTable {
  seq: Generated<number>;
  event_id: string;
  /** By the clock of who told it. */
  at: Time;
  /** By the clock of the centre: how long it is kept counts from then. */
  received_at: Time | null;
  node_id: string | null;
  workflow_id: string | null;
  step_id: string | null;
  type: string;
  cause: string;
  text: string;
  data: Json | null;
}
