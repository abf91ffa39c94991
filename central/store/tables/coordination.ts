import type { Time } from './columns.ts';

/** How the work is shared among the centres on one database. */
export interface CoordinationTables {
  reconciles: ReconcilesTable;
  host_changes: HostChangesTable;
  workflow_claims: WorkflowClaimsTable;
}

/** Work that a reconciler has before it. `turn` grows each time it is queued. */
interface ReconcilesTable {
  name: string;
  key: string;
  turn: number;
  queued_at: Time;
}

/** One row: `turn` grows when a command of the host changed what a running centre must tell its sites. */
interface HostChangesTable {
  id: number;
  turn: number;
}

/** Which of the centres on one database runs a workflow, and until when it does without saying so again. */
interface WorkflowClaimsTable {
  workflow_id: string;
  centre: string;
  /** Another one with every taking, so that who lost it finds out. */
  claim_id: string;
  /** By the clock of the database. */
  until: Time;
}
