/** The tables of a site's `state.db`; `openSqlite` applies what is missing. The boot server adds its own, named `dhcp_…`. */
export const migrations: readonly string[] = [
  `
  CREATE TABLE spec (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    document TEXT NOT NULL
  ) STRICT;

  CREATE TABLE operations (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    operation_id TEXT NOT NULL UNIQUE,
    node_id TEXT NOT NULL,
    target TEXT NOT NULL,
    document TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('received', 'started', 'finished')),
    cancelled INTEGER NOT NULL DEFAULT 0,
    expires_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER,
    result TEXT,
    result_taken INTEGER NOT NULL DEFAULT 0,
    CHECK ((state = 'finished') = (result IS NOT NULL))
  ) STRICT;
  CREATE INDEX operations_open ON operations (state, target) WHERE state <> 'finished';
  CREATE INDEX operations_untold ON operations (sequence) WHERE state = 'finished' AND result_taken = 0;

  CREATE TABLE boot_entries (
    entry_id TEXT PRIMARY KEY,
    node_id TEXT NOT NULL UNIQUE,
    document TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE boot_entry_macs (
    mac TEXT PRIMARY KEY,
    entry_id TEXT NOT NULL REFERENCES boot_entries ON DELETE CASCADE
  ) STRICT;
  CREATE INDEX boot_entry_macs_entry ON boot_entry_macs (entry_id);

  CREATE TABLE boot_tokens (
    mac TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    entry_id TEXT NOT NULL,
    node_id TEXT NOT NULL,
    address TEXT NOT NULL,
    boot_id TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    claimed_by TEXT,
    contested INTEGER NOT NULL DEFAULT 0
  ) STRICT;

  CREATE TABLE sessions (
    hash TEXT PRIMARY KEY,
    node_id TEXT NOT NULL,
    mac TEXT NOT NULL,
    boot_id TEXT NOT NULL,
    signing_key TEXT NOT NULL,
    claimed_by TEXT NOT NULL,
    joined_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX sessions_node ON sessions (node_id);

  CREATE TABLE events (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    mac TEXT,
    node_id TEXT,
    document TEXT NOT NULL,
    taken INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX events_mac ON events (mac, sequence);
  CREATE INDEX events_untold ON events (sequence) WHERE taken = 0;

  CREATE TABLE bmc_pins (
    address TEXT PRIMARY KEY,
    certificate_sha256 TEXT NOT NULL
  ) STRICT;
  `,
  `
  CREATE TABLE deployed_loaders (
    node_id TEXT PRIMARY KEY,
    esp_guid TEXT NOT NULL,
    path TEXT NOT NULL
  ) STRICT;
  `,
  `
  UPDATE operations SET document = json_remove(document, '$.input', '$.jws') WHERE state = 'finished';
  `,
  `
  CREATE INDEX events_strangers ON events (sequence) WHERE node_id IS NULL;
  `,
  `
  UPDATE spec SET document = json_object(
    'nodeId', document ->> '$.siteId', 'role', 'site', 'generation', document -> '$.generation',
    'site', json_object('cacheImages', document -> '$.cacheImages', 'nodes', document -> '$.nodes'));
  `,
  // An entry of an older agent is without the signature that a machine asks for: the centre places it anew.
  `
  DELETE FROM boot_entries;
  ALTER TABLE boot_entries ADD COLUMN jws TEXT NOT NULL DEFAULT '';
  `,
  `
  CREATE TABLE secrets (
    secret_id TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    sealed BLOB NOT NULL
  ) STRICT;
  `,
  `
  CREATE TABLE cache_pins (
    digest TEXT PRIMARY KEY,
    ref TEXT NOT NULL,
    pinned_at INTEGER NOT NULL,
    uid INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE cache_catalog (
    digest TEXT PRIMARY KEY,
    document TEXT NOT NULL,
    seen_at INTEGER NOT NULL
  ) STRICT;
  `,
  `
  CREATE TABLE seen_machines (
    machine_id TEXT PRIMARY KEY,
    last_seen TEXT NOT NULL,
    document TEXT NOT NULL
  ) STRICT;
  `,
  `
  CREATE TABLE bmc_cipher_suites (
    address TEXT PRIMARY KEY,
    suite INTEGER NOT NULL
  ) STRICT;
  `,
  `
  CREATE TABLE media_urls (
    node_id TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    token TEXT NOT NULL UNIQUE
  ) STRICT;
  `,
  `
  CREATE TABLE bmc_logs (
    node_id TEXT PRIMARY KEY,
    address TEXT NOT NULL,
    mark TEXT NOT NULL
  ) STRICT;
  `,
  `
  CREATE TABLE bmc_memories (
    address TEXT PRIMARY KEY,
    document TEXT NOT NULL
  ) STRICT;
  `,
  `
  CREATE TABLE bmc_hooks (
    node_id TEXT PRIMARY KEY,
    token TEXT NOT NULL UNIQUE,
    place TEXT
  ) STRICT;
  `,
  `
  CREATE TABLE bmc_ssh_keys (
    place TEXT PRIMARY KEY,
    host_key TEXT NOT NULL
  ) STRICT;
  CREATE TABLE console_recordings (
    recording_id TEXT PRIMARY KEY,
    node_id TEXT NOT NULL,
    until INTEGER NOT NULL,
    asked_by TEXT NOT NULL,
    kept INTEGER NOT NULL DEFAULT 0,
    begun INTEGER NOT NULL DEFAULT 0,
    ended INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  `,
  `
  CREATE TABLE media_grants (
    node_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    token TEXT NOT NULL UNIQUE,
    PRIMARY KEY (node_id, digest)
  ) STRICT;
  INSERT INTO media_grants SELECT node_id, digest, token FROM media_urls;
  DROP TABLE media_urls;
  `,
  `
  CREATE TABLE bmc_secrets (
    node_id TEXT PRIMARY KEY,
    document TEXT NOT NULL
  ) STRICT;
  `,
];
