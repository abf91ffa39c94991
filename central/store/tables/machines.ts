import type { Loader } from '#contract/loader.ts';
import type { NodeSpecRole } from '#contract/nodeSpec.ts';
import type { NodeState } from '../../metal/states.ts';
import type { Json, Time } from './columns.ts';

/** The nodes, and what is known of the machines behind them. */
export interface MachineTables {
  nodes: NodesTable;
  node_macs: NodeMacsTable;
  discovered_machines: DiscoveredMachinesTable;
  seen_machines: SeenMachinesTable;
  cached_media: CachedMediaTable;
  boot_entries: BootEntriesTable;
  node_specs: NodeSpecsTable;
  alarms: AlarmsTable;
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
  /** The secret that its BMC is being given in the place of what `bmc` names. */
  next_secret_id: string | null;
  /** How its serial console is to be recorded; one whose time is up is none. */
  recording: Json | null;
}

interface NodeMacsTable {
  site_id: string;
  mac: string;
  node_id: string;
  /** When PXE discovery bound it; null when it was enrolled. */
  discovered_at: Time | null;
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

/** What the BMCs of machines read from the caches of their sites. */
interface CachedMediaTable {
  node_id: string;
  site_id: string;
  image_id: string;
  /** 1 once its BMC has taken it. */
  mounted: number;
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

/** Why an operator is called. */
export type AlarmReason =
  | 'copied'
  | 'contested'
  | 'other-host'
  | 'join-refused'
  | 'result-signature'
  | 'operator-asked'
  | 'bmc-password-unknown';

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
