/**
 * The centre's schema, version by version, in the words of SQLite; postgres.ts exchanges the few that differ there, so use only INTEGER,
 * TEXT, REAL and BLOB. An entry is never edited once it is on main. Times are ISO 8601 text, documents JSON text, flags 0 or 1.
 */
export const migrations: readonly string[] = [
  `
CREATE TABLE tokens (
  token_id TEXT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL UNIQUE, grants TEXT NOT NULL,
  created_at TEXT NOT NULL, expires_at TEXT NOT NULL, revoked_at TEXT
);
CREATE TABLE audit (
  audit_id TEXT PRIMARY KEY, at TEXT NOT NULL, token_id TEXT NOT NULL, method TEXT NOT NULL, action TEXT NOT NULL,
  scope TEXT NOT NULL, outcome TEXT NOT NULL
);
CREATE TABLE sites (
  site_id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, created_at TEXT NOT NULL,
  generation INTEGER NOT NULL DEFAULT 0, spec TEXT, observed_generation INTEGER NOT NULL DEFAULT 0, seen_at TEXT
);
CREATE TABLE pools (
  pool_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, site_id TEXT NOT NULL REFERENCES sites (site_id),
  class TEXT NOT NULL, policy TEXT NOT NULL, created_at TEXT NOT NULL
);
CREATE TABLE image_signers (
  tenant_id TEXT NOT NULL, signer_id TEXT NOT NULL, public_key TEXT NOT NULL, created_at TEXT NOT NULL,
  revoked_at TEXT, PRIMARY KEY (tenant_id, signer_id)
);
CREATE TABLE images (
  image_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, ref TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('os', 'ramdisk')),
  format TEXT NOT NULL CHECK (format IN ('raw', 'qcow2', 'iso')),
  compression TEXT NOT NULL CHECK (compression IN ('none', 'zstd', 'gzip')),
  sha256 TEXT NOT NULL CHECK (length(sha256) = 64), size_bytes INTEGER, source TEXT NOT NULL,
  signature TEXT, signer_id TEXT, signer_tenant_id TEXT,
  verified INTEGER NOT NULL, visibility TEXT NOT NULL CHECK (visibility IN ('private', 'public')),
  created_at TEXT NOT NULL,
  UNIQUE (tenant_id, ref),
  CHECK ((signature IS NULL) = (signer_id IS NULL)),
  CHECK (verified = 0 OR signature IS NOT NULL),
  CHECK (visibility = 'private' OR verified = 1),
  CHECK (kind = 'os' OR verified = 1)
);
CREATE INDEX images_by_ref ON images (ref);
CREATE TABLE image_locations (
  site_id TEXT NOT NULL REFERENCES sites (site_id), image_id TEXT NOT NULL REFERENCES images (image_id),
  state TEXT NOT NULL CHECK (state IN ('pulling', 'ready', 'failed', 'evicting')),
  received_bytes INTEGER, error TEXT, reported_at TEXT NOT NULL, PRIMARY KEY (site_id, image_id)
);
CREATE TABLE profiles (
  tenant_id TEXT NOT NULL, profile_id TEXT NOT NULL, version INTEGER NOT NULL, document TEXT NOT NULL,
  visibility TEXT NOT NULL CHECK (visibility IN ('private', 'public')), used_at TEXT, created_at TEXT NOT NULL,
  PRIMARY KEY (tenant_id, profile_id, version)
);
CREATE TABLE nodes (
  node_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, site_id TEXT NOT NULL REFERENCES sites (site_id),
  pool_id TEXT REFERENCES pools (pool_id), uuid TEXT, hostname TEXT, address TEXT, bmc TEXT,
  state TEXT NOT NULL CHECK (state IN ('enrolled', 'deploying', 'active', 'failed')),
  role TEXT, created_at TEXT NOT NULL
);
CREATE TABLE node_macs (
  site_id TEXT NOT NULL, mac TEXT NOT NULL, node_id TEXT NOT NULL REFERENCES nodes (node_id),
  PRIMARY KEY (site_id, mac)
);
CREATE TABLE node_joins (
  join_id TEXT PRIMARY KEY, node_id TEXT NOT NULL REFERENCES nodes (node_id),
  role TEXT NOT NULL CHECK (role IN ('ramdisk', 'node')), boot_id TEXT, signing_key TEXT, sealing_key TEXT,
  trust TEXT, at TEXT NOT NULL, received_at TEXT NOT NULL, lost_at TEXT
);
CREATE INDEX node_joins_by_node ON node_joins (node_id, role);
CREATE TABLE join_tokens (
  token_id TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, role TEXT NOT NULL CHECK (role IN ('site', 'node')),
  node_id TEXT NOT NULL, workflow_id TEXT, created_at TEXT NOT NULL, expires_at TEXT NOT NULL,
  used_at TEXT, used_by TEXT, revoked_at TEXT
);
CREATE TABLE certificates (
  serial TEXT PRIMARY KEY, identity TEXT NOT NULL, issued_at TEXT NOT NULL, expires_at TEXT NOT NULL, revoked_at TEXT
);
CREATE TABLE secrets (ref TEXT PRIMARY KEY, sealed BLOB NOT NULL, created_at TEXT NOT NULL);
CREATE TABLE workflows (
  workflow_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, node_id TEXT NOT NULL REFERENCES nodes (node_id),
  site_id TEXT NOT NULL, profile TEXT NOT NULL, profile_tenant_id TEXT NOT NULL, disk TEXT,
  state TEXT NOT NULL CHECK (state IN ('running', 'succeeded', 'failed', 'cancelled')),
  error TEXT, created_by TEXT NOT NULL, created_at TEXT NOT NULL, finished_at TEXT,
  cancel_requested_at TEXT, cancelled_by TEXT
);
CREATE UNIQUE INDEX one_running_workflow_per_node ON workflows (node_id) WHERE state = 'running';
CREATE INDEX workflows_by_tenant ON workflows (tenant_id, workflow_id);
CREATE TABLE workflow_steps (
  workflow_id TEXT NOT NULL REFERENCES workflows (workflow_id), position INTEGER NOT NULL, step_id TEXT NOT NULL UNIQUE,
  phase TEXT NOT NULL CHECK (phase IN ('main', 'cleanup')), step TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'succeeded', 'failed', 'skipped', 'cancelled')),
  attempt INTEGER NOT NULL DEFAULT 0, not_before TEXT, started_at TEXT, deadline TEXT, finished_at TEXT,
  result TEXT, error TEXT, PRIMARY KEY (workflow_id, position)
);
CREATE TABLE operations (
  operation_id TEXT PRIMARY KEY, site_id TEXT NOT NULL REFERENCES sites (site_id), node_id TEXT NOT NULL,
  step_id TEXT NOT NULL REFERENCES workflow_steps (step_id), workflow_id TEXT NOT NULL, attempt INTEGER NOT NULL,
  target TEXT NOT NULL, action TEXT NOT NULL, sealed BLOB NOT NULL, join_id TEXT REFERENCES node_joins (join_id),
  created_at TEXT NOT NULL, expires_at TEXT NOT NULL, taken_at TEXT, cancel_requested_at TEXT, cancel_told_at TEXT,
  progress TEXT, outcome TEXT, result TEXT, error TEXT, finished_at TEXT,
  UNIQUE (step_id, attempt)
);
CREATE INDEX open_operations_by_site ON operations (site_id) WHERE outcome IS NULL;
CREATE TABLE events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, event_id TEXT NOT NULL UNIQUE, at TEXT NOT NULL, node_id TEXT,
  workflow_id TEXT, step_id TEXT, type TEXT NOT NULL, cause TEXT NOT NULL, text TEXT NOT NULL, data TEXT
);
CREATE INDEX events_by_workflow ON events (workflow_id, seq);
CREATE INDEX events_by_node ON events (node_id, seq);
`,
  `
CREATE TABLE agents (
  identity TEXT PRIMARY KEY, role TEXT NOT NULL CHECK (role IN ('site', 'node')), agent_id TEXT NOT NULL,
  public_key TEXT NOT NULL, sealing_key TEXT, counter INTEGER NOT NULL, renewal TEXT,
  joined_at TEXT NOT NULL, renewed_at TEXT, trust_number INTEGER NOT NULL, revoked_at TEXT, revoked_why TEXT, alarm TEXT
);
CREATE INDEX agents_by_id ON agents (agent_id);
CREATE INDEX certificates_by_identity ON certificates (identity);
CREATE TABLE revocations (
  number BIGINT PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('certificate', 'machine-key', 'image-signer')),
  subject TEXT NOT NULL, identity TEXT NOT NULL, why TEXT NOT NULL, revoked_by TEXT NOT NULL, at TEXT NOT NULL, expires_at TEXT
);
`,
  `
CREATE TABLE node_specs (
  role TEXT NOT NULL CHECK (role IN ('site', 'ramdisk', 'node')), node_id TEXT NOT NULL, generation INTEGER NOT NULL,
  content TEXT, observed_generation INTEGER NOT NULL, observed_at TEXT, PRIMARY KEY (role, node_id)
);
INSERT INTO node_specs (role, node_id, generation, content, observed_generation, observed_at)
  SELECT 'site', site_id, generation, NULL, observed_generation, seen_at FROM sites;
ALTER TABLE sites DROP COLUMN generation;
ALTER TABLE sites DROP COLUMN observed_generation;
ALTER TABLE sites DROP COLUMN spec;
ALTER TABLE nodes ADD COLUMN drivers TEXT;
ALTER TABLE nodes ADD COLUMN host_config TEXT;
CREATE TABLE boot_entries (
  node_id TEXT PRIMARY KEY REFERENCES nodes (node_id), site_id TEXT NOT NULL, entry_id TEXT NOT NULL,
  entry TEXT NOT NULL, expires_at TEXT NOT NULL
);
`,
  `
CREATE TABLE withdrawn_digests (sha256 TEXT PRIMARY KEY, why TEXT NOT NULL, withdrawn_at TEXT NOT NULL);
CREATE TABLE node_images (
  node_id TEXT NOT NULL REFERENCES nodes (node_id), sha256 TEXT NOT NULL, ref TEXT NOT NULL, image_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('writing', 'deployed')), workflow_id TEXT NOT NULL,
  at TEXT NOT NULL, PRIMARY KEY (node_id, sha256)
);
CREATE INDEX node_images_by_digest ON node_images (sha256);
CREATE INDEX images_by_digest ON images (sha256);
CREATE INDEX public_images_by_ref ON images (ref, image_id) WHERE visibility = 'public';
DROP INDEX images_by_ref;
CREATE TABLE site_agents (
  agent_id TEXT PRIMARY KEY, site_id TEXT NOT NULL REFERENCES sites (site_id), seen_at TEXT NOT NULL
);
CREATE TABLE node_image_cache (
  agent_id TEXT NOT NULL REFERENCES site_agents (agent_id), sha256 TEXT NOT NULL, ref TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pulling', 'ready', 'failed', 'evicting')),
  size_bytes BIGINT, received_bytes BIGINT, error TEXT, reported_at TEXT NOT NULL, PRIMARY KEY (agent_id, sha256)
);
ALTER TABLE image_locations ADD COLUMN used_at TEXT;
CREATE TABLE image_pins (
  site_id TEXT NOT NULL REFERENCES sites (site_id), image_id TEXT NOT NULL REFERENCES images (image_id),
  workflow_id TEXT NOT NULL, pinned_at TEXT NOT NULL, PRIMARY KEY (site_id, image_id, workflow_id)
);
CREATE INDEX image_pins_by_workflow ON image_pins (workflow_id);
ALTER TABLE pools ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
CREATE TABLE reconciles (
  name TEXT NOT NULL, key TEXT NOT NULL, turn INTEGER NOT NULL, queued_at TEXT NOT NULL, PRIMARY KEY (name, key)
);
CREATE TABLE host_changes (id INTEGER PRIMARY KEY CHECK (id = 1), turn INTEGER NOT NULL);
INSERT INTO host_changes (id, turn) VALUES (1, 0);
`,
  `
CREATE TABLE alarms (
  alarm_id TEXT PRIMARY KEY, at TEXT NOT NULL, site_id TEXT NOT NULL, node_id TEXT, mac TEXT,
  reason TEXT NOT NULL, text TEXT NOT NULL, acknowledged_at TEXT, acknowledged_by TEXT
);
CREATE INDEX alarms_by_node ON alarms (node_id, at);
CREATE INDEX alarms_by_site ON alarms (site_id, at);
ALTER TABLE node_joins ADD COLUMN lost_reason TEXT;
`,
  `
CREATE TABLE tenant_secrets (
  secret_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, ref TEXT NOT NULL, version INTEGER NOT NULL,
  created_at TEXT NOT NULL, set_at TEXT NOT NULL, UNIQUE (tenant_id, ref)
);
CREATE TABLE secret_deliveries (
  secret_id TEXT NOT NULL REFERENCES tenant_secrets (secret_id), agent TEXT NOT NULL, version INTEGER NOT NULL,
  at TEXT NOT NULL, PRIMARY KEY (secret_id, agent)
);
`,
  `
ALTER TABLE agents DROP COLUMN alarm;
`,
  `
ALTER TABLE nodes ADD COLUMN lifecycle TEXT NOT NULL DEFAULT 'enrolled';
UPDATE nodes SET lifecycle = state;
ALTER TABLE nodes DROP COLUMN state;
ALTER TABLE nodes RENAME COLUMN lifecycle TO state;
ALTER TABLE nodes ADD COLUMN failed_from TEXT;
ALTER TABLE nodes ADD COLUMN error TEXT;
ALTER TABLE nodes ADD COLUMN hardware_profile TEXT;
ALTER TABLE nodes ADD COLUMN labels TEXT;
ALTER TABLE nodes ADD COLUMN inventory TEXT;
ALTER TABLE nodes ADD COLUMN inventory_at TEXT;
ALTER TABLE node_macs ADD COLUMN discovered_at TEXT;
CREATE TABLE mac_proposals (
  node_id TEXT NOT NULL REFERENCES nodes (node_id), mac TEXT NOT NULL, site_id TEXT NOT NULL, proposed_at TEXT NOT NULL,
  PRIMARY KEY (node_id, mac)
);
ALTER TABLE workflows ADD COLUMN settles TEXT;
UPDATE workflows SET settles = '{"method":"deploy","during":"deploying","success":"active"}'
  WHERE state = 'running' AND node_id IN (SELECT node_id FROM nodes WHERE state = 'deploying');
UPDATE nodes SET failed_from = 'deploying' WHERE state = 'failed';
ALTER TABLE profiles ADD COLUMN row_version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE profiles ADD COLUMN deleted_at TEXT;
ALTER TABLE operations RENAME TO operations_before;
CREATE TABLE operations (
  operation_id TEXT PRIMARY KEY, site_id TEXT NOT NULL REFERENCES sites (site_id), node_id TEXT NOT NULL,
  step_id TEXT NOT NULL REFERENCES workflow_steps (step_id), workflow_id TEXT NOT NULL, attempt INTEGER NOT NULL,
  part TEXT NOT NULL, target TEXT NOT NULL, action TEXT NOT NULL, sealed BLOB NOT NULL, join_id TEXT REFERENCES node_joins (join_id),
  created_at TEXT NOT NULL, expires_at TEXT NOT NULL, taken_at TEXT, cancel_requested_at TEXT, cancel_told_at TEXT,
  progress TEXT, outcome TEXT, result TEXT, error TEXT, finished_at TEXT,
  UNIQUE (step_id, attempt, part)
);
INSERT INTO operations
  SELECT operation_id, site_id, node_id, step_id, workflow_id, attempt, '', target, action, sealed, join_id, created_at, expires_at,
    taken_at, cancel_requested_at, cancel_told_at, progress, outcome, result, error, finished_at FROM operations_before;
DROP TABLE operations_before;
CREATE INDEX open_operations_by_site ON operations (site_id) WHERE outcome IS NULL;
`,
  `
CREATE TABLE tenants (tenant_id TEXT PRIMARY KEY, name TEXT NOT NULL, created_at TEXT NOT NULL);
INSERT INTO tenants (tenant_id, name, created_at)
  SELECT tenant_id, tenant_id, MIN(created_at) FROM (
    SELECT 'root' AS tenant_id, '1970-01-01T00:00:00.000Z' AS created_at
    UNION ALL SELECT tenant_id, created_at FROM images UNION ALL SELECT tenant_id, created_at FROM profiles
    UNION ALL SELECT tenant_id, created_at FROM pools UNION ALL SELECT tenant_id, created_at FROM nodes
  ) AS used GROUP BY tenant_id;
ALTER TABLE tokens ADD COLUMN tenant_id TEXT;
ALTER TABLE tokens ADD COLUMN parent_id TEXT;
CREATE INDEX tokens_by_parent ON tokens (parent_id);
ALTER TABLE audit RENAME COLUMN token_id TO actor;
ALTER TABLE audit ADD COLUMN address TEXT;
ALTER TABLE audit ADD COLUMN tenant_id TEXT;
ALTER TABLE audit ADD COLUMN subject TEXT;
ALTER TABLE audit ADD COLUMN ended_at TEXT;
CREATE INDEX audit_by_tenant ON audit (tenant_id, audit_id);
`,
  `
CREATE INDEX images_by_kind ON images (tenant_id, kind, ref, image_id);
CREATE INDEX public_images_by_kind ON images (kind, ref, image_id) WHERE visibility = 'public';
`,
  `
DROP TABLE mac_proposals;
CREATE TABLE discovered_machines (
  site_id TEXT NOT NULL REFERENCES sites (site_id), mac TEXT NOT NULL, uuid TEXT NOT NULL, seen_at TEXT NOT NULL,
  PRIMARY KEY (site_id, mac)
);
CREATE INDEX discovered_machines_by_uuid ON discovered_machines (site_id, uuid);
`,
  `
CREATE TABLE workflow_claims (
  workflow_id TEXT PRIMARY KEY REFERENCES workflows (workflow_id), centre TEXT NOT NULL, until TEXT NOT NULL
);
CREATE INDEX running_workflows ON workflows (workflow_id) WHERE state = 'running';
`,
  `
ALTER TABLE boot_entries ADD COLUMN image_id TEXT;
`,
  `
ALTER TABLE node_images RENAME TO node_images_before;
CREATE TABLE node_images (
  node_id TEXT NOT NULL REFERENCES nodes (node_id), sha256 TEXT NOT NULL, ref TEXT NOT NULL, image_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('writing', 'deployed', 'mounted')), workflow_id TEXT NOT NULL,
  at TEXT NOT NULL, PRIMARY KEY (node_id, sha256)
);
INSERT INTO node_images SELECT node_id, sha256, ref, image_id, state, workflow_id, at FROM node_images_before;
DROP TABLE node_images_before;
CREATE INDEX node_images_by_digest ON node_images (sha256);
CREATE INDEX node_images_by_workflow ON node_images (workflow_id);
`,
  `
CREATE INDEX open_operations_by_node ON operations (node_id) WHERE outcome IS NULL;
`,
  `
ALTER TABLE workflow_claims ADD COLUMN claim_id TEXT NOT NULL DEFAULT '';
INSERT INTO tenants (tenant_id, name, created_at)
  SELECT tenant_id, tenant_id, MIN(created_at) FROM image_signers
  WHERE revoked_at IS NULL AND tenant_id NOT IN (SELECT tenant_id FROM tenants) GROUP BY tenant_id;
`,
  `
ALTER TABLE nodes ADD COLUMN boot_quirks TEXT;
`,
  `
ALTER TABLE nodes ADD COLUMN vlan INTEGER;
`,
  `
CREATE TABLE seen_machines (
  site_id TEXT NOT NULL REFERENCES sites (site_id), machine_id TEXT NOT NULL, document TEXT NOT NULL, last_seen TEXT NOT NULL,
  PRIMARY KEY (site_id, machine_id)
);
CREATE INDEX seen_machines_by_time ON seen_machines (site_id, last_seen);
`,
  `
ALTER TABLE nodes ADD COLUMN loader TEXT CHECK (loader IN ('ipxe', 'shim', 'uki'));
ALTER TABLE nodes ADD COLUMN secure_boot INTEGER;
`,
  `
ALTER TABLE sites ADD COLUMN inventory_url TEXT;
ALTER TABLE sites ADD COLUMN inventory_pin TEXT;
`,
  `
ALTER TABLE nodes ADD COLUMN health TEXT;
ALTER TABLE nodes ADD COLUMN health_at TEXT;
`,
  `
ALTER TABLE sites ADD COLUMN media_from TEXT;
CREATE TABLE cached_media (
  node_id TEXT PRIMARY KEY REFERENCES nodes (node_id), site_id TEXT NOT NULL, image_id TEXT NOT NULL
);
CREATE INDEX cached_media_by_site ON cached_media (site_id);
`,
  `
ALTER TABLE operations ADD COLUMN asked TEXT;
ALTER TABLE operations ADD COLUMN confirmed_at TEXT;
ALTER TABLE operations ADD COLUMN confirm_told_at TEXT;
`,
  `
ALTER TABLE nodes ADD COLUMN next_secret_id TEXT;
`,
  `
ALTER TABLE nodes ADD COLUMN recording TEXT;
`,
  `
ALTER TABLE cached_media RENAME TO cached_media_before;
CREATE TABLE cached_media (
  node_id TEXT NOT NULL REFERENCES nodes (node_id), site_id TEXT NOT NULL, image_id TEXT NOT NULL,
  mounted INTEGER NOT NULL, PRIMARY KEY (node_id, image_id)
);
INSERT INTO cached_media SELECT node_id, site_id, image_id, 1 FROM cached_media_before;
DROP TABLE cached_media_before;
CREATE INDEX cached_media_by_site ON cached_media (site_id);
`,
  `
CREATE INDEX events_that_go ON events (type, at) WHERE type IN ('console.output', 'bmc.health', 'bmc.log', 'bmc.events');
`,
  `
DROP INDEX events_that_go;
ALTER TABLE events ADD COLUMN received_at TEXT;
UPDATE events SET received_at = at;
CREATE INDEX machine_events_by_receipt ON events (workflow_id, received_at) WHERE workflow_id IS NULL AND type <> 'console.output';
CREATE INDEX console_output_by_receipt ON events (received_at) WHERE type = 'console.output';
ALTER TABLE workflows ADD COLUMN events_removed_at TEXT;
CREATE INDEX workflows_by_node ON workflows (node_id, workflow_id);
CREATE INDEX workflows_with_events_by_end ON workflows (finished_at, workflow_id) WHERE events_removed_at IS NULL;
CREATE INDEX workflows_without_events_by_end ON workflows (finished_at, workflow_id) WHERE events_removed_at IS NOT NULL;
CREATE INDEX operations_by_join ON operations (join_id);
CREATE INDEX node_joins_by_receipt ON node_joins (received_at, join_id);
CREATE INDEX certificates_by_end ON certificates (expires_at, serial);
CREATE INDEX join_tokens_by_end ON join_tokens (expires_at);
CREATE INDEX discovered_machines_by_time ON discovered_machines (site_id, seen_at);
CREATE INDEX alarms_by_acknowledgement ON alarms (acknowledged_at);
`,
];
