import type { TrustLevel } from '#contract/join.ts';
import type { Json, Time } from './columns.ts';

/** Who has joined, by which right. */
export interface AgentTables {
  node_joins: NodeJoinsTable;
  join_tokens: JoinTokensTable;
  certificates: CertificatesTable;
  agents: AgentsTable;
  revocations: RevocationsTable;
}

/** Why a joined ramdisk is there no more: it fell silent, or two machines claimed to be it. */
type LossReason = 'revoked' | 'silent' | 'contested';

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
