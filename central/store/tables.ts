import type { Insertable, Selectable } from 'kysely';
import type { AccessTables } from './tables/access.ts';
import type { AgentTables } from './tables/agents.ts';
import type { CoordinationTables } from './tables/coordination.ts';
import type { ImageTables } from './tables/images.ts';
import type { MachineTables } from './tables/machines.ts';
import type { SecretTables } from './tables/secrets.ts';
import type { SiteTables } from './tables/sites.ts';
import type { WorkflowTables } from './tables/workflows.ts';

/** The tables of the centre's database; `migrations.ts` makes them. */
export interface Tables
  extends AccessTables,
    SiteTables,
    ImageTables,
    MachineTables,
    AgentTables,
    SecretTables,
    WorkflowTables,
    CoordinationTables {}

export type Row<Name extends keyof Tables> = Selectable<Tables[Name]>;
export type NewRow<Name extends keyof Tables> = Insertable<Tables[Name]>;
