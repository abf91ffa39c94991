import type { Generated, Insertable, Selectable } from 'kysely';
import type { CacheState, Compression, ImageFormat, ImageKind } from '#contract/images.ts';
import type { TrustLevel } from '#contract/join.ts';
import type { Loader } from '#contract/loader.ts';
import type { NodeSpecRole } from '#contract/nodeSpec.ts';
import type { OperationOutcome } from '#contract/operations.ts';
import type { NodeState } from '../metal/states.ts';

/** A time as ISO 8601 text, which sorts as time does. */
type Time = string;
/** A JSON document as text. */
type Json = string;

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

interface SitesTable {
  site_id: string;
  name: string;
  created_at: Time;
  seen_at: Time | null;
  /** Where its inventory is read; null: it only reports. */
  inventory_url: string | null;
  /** sha256 of the certificate there. */
  inventory_pin: string | null;
}

interface PoolsTable {
  pool_id: string;
  tenant_id: string;
  site_id: string;
  class: string;
  policy: Json;
  /** Grows with every change. */
  version: Generated<number>;
  created_at: Time;
}

interface ImageSignersTable {
  tenant_id: string;
  signer_id: string;
  public_key: string;
  created_at: Time;
  revoked_at: Time | null;
}

interface ImagesTable {
  image_id: string;
  tenant_id: string;
  ref: string;
  kind: ImageKind;
  format: ImageFormat;
  compression: Compression;
  sha256: string;
  size_bytes: number | null;
  source: string;
  signature: string | null;
  signer_id: string | null;
  signer_tenant_id: string | null;
  verified: number;
  visibility: 'private' | 'public';
  created_at: Time;
}

interface ImageLocationsTable {
  site_id: string;
  image_id: string;
  state: CacheState;
  received_bytes: number | null;
  error: Json | null;
  reported_at: Time;
  used_at: Time | null;
}

/** An image that a deploy streams at a site. */
interface ImagePinsTable {
  site_id: string;
  image_id: string;
  workflow_id: string;
  pinned_at: Time;
}

interface WithdrawnDigestsTable {
  sha256: string;
  why: string;
  withdrawn_at: Time;
}

/** What is on a machine's disk, as far as the centre knows: `writing` may have been cut short. */
interface NodeImagesTable {
  node_id: string;
  sha256: string;
  ref: string;
  image_id: string;
  state: 'writing' | 'deployed' | 'mounted';
  workflow_id: string;
  at: Time;
}

interface SiteAgentsTable {
  agent_id: string;
  site_id: string;
  seen_at: Time;
}

/** What each agent says that its cache has. */
interface NodeImageCacheTable {
  agent_id: string;
  sha256: string;
  ref: string;
  state: CacheState;
  size_bytes: number | null;
  received_bytes: number | null;
  error: Json | null;
  reported_at: Time;
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

interface NodesTable {
  node_id: string;
  tenant_id: string;
  site_id: string;
  pool_id: string | null;
  uuid: string | null;
  hostname: string | null;
  address: string | null;
  bmc: Json | null;
  state: NodeState;
  role: string | null;
  created_at: Time;
  /** Driver bindings as `resolveDriverBindings` made them; null: those of its BMC alone. */
  drivers: Json | null;
  /** Units of the profile that was deployed last; null before the first deploy has succeeded. */
  host_config: Json | null;
  /** The state that it failed out of, and why; null unless its state is `failed`. */
  failed_from: NodeState | null;
  error: Json | null;
  /** The node's own; null: its pool's. */
  hardware_profile: string | null;
  /** What operators set, for `when`. */
  labels: Json | null;
  /** Quirks of its firmware that operators set, by class of client. */
  boot_quirks: Json | null;
  /** What the machine told of itself last. */
  inventory: Json | null;
  inventory_at: Time | null;
  /** The VLAN that it boots in, tagged; null: none. */
  vlan: number | null;
  /** What operators chose; null: by whether Secure Boot is on. */
  loader: Loader | null;
  /** Whether Secure Boot is on, as its BMC or its ramdisk told last: 1 or 0; null: nobody knows. */
  secure_boot: number | null;
  /** What its BMC told last, and when by the site's clock. */
  health: Json | null;
  health_at: Time | null;
  /** How its serial console is to be recorded; one whose time is up is none. */
  recording: Json | null;
}

/** Machines that booted over the network and that nobody had enrolled by their hardware address. */
interface DiscoveredMachinesTable {
  site_id: string;
  mac: string;
  /** In the one spelling of `canonicalUuid`. */
  uuid: string;
  seen_at: Time;
}

interface SeenMachinesTable {
  site_id: string;
  machine_id: string;
  document: string;
  last_seen: Time;
}

interface BootEntriesTable {
  node_id: string;
  site_id: string;
  entry_id: string;
  /** Signed by the centre: a compact JWS. */
  entry: string;
  expires_at: Time;
  /** The ISO that it boots; null for a ramdisk's. */
  image_id: string | null;
}

interface NodeSpecsTable {
  role: NodeSpecRole;
  node_id: string;
  generation: number;
  /** What `generation` stands for. */
  content: Json | null;
  observed_generation: number;
  observed_at: Time | null;
}

interface NodeMacsTable {
  site_id: string;
  mac: string;
  node_id: string;
  /** When PXE discovery bound it; null when it was enrolled. */
  discovered_at: Time | null;
}

/** Why a joined ramdisk is there no more: it fell silent, or two machines claimed to be it. */
export type LossReason = 'revoked' | 'silent' | 'contested';

interface NodeJoinsTable {
  join_id: string;
  node_id: string;
  role: 'ramdisk' | 'node';
  boot_id: string | null;
  signing_key: Json | null;
  sealing_key: Json | null;
  trust: TrustLevel | null;
  at: Time;
  received_at: Time;
  lost_at: Time | null;
  lost_reason: LossReason | null;
}

/** Why an operator is called. */
export type AlarmReason =
  | 'copied'
  | 'contested'
  | 'other-host'
  | 'join-refused'
  | 'result-signature'
  | 'operator-asked';

interface AlarmsTable {
  alarm_id: string;
  at: Time;
  site_id: string;
  node_id: string | null;
  mac: string | null;
  reason: AlarmReason;
  text: string;
  acknowledged_at: Time | null;
  acknowledged_by: string | null;
}

interface JoinTokensTable {
  token_id: string;
  hash: string;
  role: 'site' | 'node';
  node_id: string;
  workflow_id: string | null;
  created_at: Time;
  expires_at: Time;
  used_at: Time | null;
  used_by: string | null;
  revoked_at: Time | null;
}

interface CertificatesTable {
  serial: string;
  identity: string;
  issued_at: Time;
  expires_at: Time;
  revoked_at: Time | null;
}

/** An agent that has joined: what its newest join and renewals left. Its certificates are in the books by their serials. */
interface AgentsTable {
  /** `urn:railhead:<role>:<id>`. */
  identity: string;
  role: 'site' | 'node';
  agent_id: string;
  /** SPKI, PEM: the key that its certificates are for and that it proves when it renews. */
  public_key: string;
  /** X25519: what is sealed to this agent. */
  sealing_key: Json | null;
  /** The renewals that it has had since it joined. */
  counter: number;
  /** The nonce of the newest renewal: whoever shows that counter with another one is a copy. */
  renewal: string | null;
  joined_at: Time;
  renewed_at: Time | null;
  /** The newest list of the centre's keys that it is known to have. */
  trust_number: number;
  revoked_at: Time | null;
  revoked_why: string | null;
}

/** What is on the list of the revoked, which sites keep. */
interface RevocationsTable {
  /** Grows with time: the number of a list is that of its newest entry. */
  number: number;
  kind: 'certificate' | 'machine-key';
  /** A serial; the `x` of a machine's Ed25519 key. */
  subject: string;
  identity: string;
  why: string;
  revoked_by: string;
  at: Time;
  /** When it ends by itself, so that the list can forget it. */
  expires_at: Time | null;
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

/** Which of the centres on one database runs a workflow, and until when it does without saying so again. */
interface WorkflowClaimsTable {
  workflow_id: string;
  centre: string;
  /** Another one with every taking, so that who lost it finds out. */
  claim_id: string;
  /** By the clock of the database. */
  until: Time;
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
  progress: Json | null;
  outcome: OperationOutcome | null;
  result: Json | null;
  error: Json | null;
  finished_at: Time | null;
}

interface EventsTable {
  seq: Generated<number>;
  event_id: string;
  at: Time;
  node_id: string | null;
  workflow_id: string | null;
  step_id: string | null;
  type: string;
  cause: string;
  text: string;
  data: Json | null;
}

export interface Tables {
  tokens: TokensTable;
  tenants: TenantsTable;
  audit: AuditTable;
  sites: SitesTable;
  pools: PoolsTable;
  image_signers: ImageSignersTable;
  images: ImagesTable;
  image_locations: ImageLocationsTable;
  image_pins: ImagePinsTable;
  withdrawn_digests: WithdrawnDigestsTable;
  node_images: NodeImagesTable;
  site_agents: SiteAgentsTable;
  node_image_cache: NodeImageCacheTable;
  reconciles: ReconcilesTable;
  host_changes: HostChangesTable;
  profiles: ProfilesTable;
  nodes: NodesTable;
  node_macs: NodeMacsTable;
  discovered_machines: DiscoveredMachinesTable;
  seen_machines: SeenMachinesTable;
  node_specs: NodeSpecsTable;
  boot_entries: BootEntriesTable;
  node_joins: NodeJoinsTable;
  alarms: AlarmsTable;
  join_tokens: JoinTokensTable;
  certificates: CertificatesTable;
  agents: AgentsTable;
  revocations: RevocationsTable;
  secrets: SecretsTable;
  tenant_secrets: TenantSecretsTable;
  secret_deliveries: SecretDeliveriesTable;
  workflows: WorkflowsTable;
  workflow_claims: WorkflowClaimsTable;
  workflow_steps: WorkflowStepsTable;
  operations: OperationsTable;
  events: EventsTable;
}

export type Row<Name extends keyof Tables> = Selectable<Tables[Name]>;
export type NewRow<Name extends keyof Tables> = Insertable<Tables[Name]>;
