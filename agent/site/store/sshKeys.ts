import type { Sqlite } from '#base/sqlite.ts';

/** The host key that the SSH of each BMC showed first, where the centre named none. */
export interface SshKeys {
  /** `place`: `host:port`. */
  find(place: string): string | undefined;
  keep(place: string, hostKey: string): void;
  /** Forgets those of all ports of a host, and returns them. */
  forget(host: string): string[];
}

export function openSshKeys(database: Sqlite): SshKeys {
  const find = database.prepare<[string], { host_key: string }>(
    'SELECT host_key FROM bmc_ssh_keys WHERE place = ?',
  );
  const keep = database.prepare('INSERT OR IGNORE INTO bmc_ssh_keys (place, host_key) VALUES (?, ?)');
  // The port is what comes after the last colon.
  const forget = database.prepare<[string], { host_key: string }>(
    `DELETE FROM bmc_ssh_keys WHERE rtrim(rtrim(place, '0123456789'), ':') = ? RETURNING host_key`,
  );
  return {
    find: (place) => find.get(place)?.host_key,
    keep: (place, hostKey) => void keep.run(place, hostKey),
    forget: (host) => forget.all(host).map(({ host_key }) => host_key),
  };
}
