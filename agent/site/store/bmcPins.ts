import type { Sqlite } from '#base/sqlite.ts';

/** The certificate that each BMC showed first, where the centre named none. */
export interface BmcPins {
  find(address: string): string | undefined;
  keep(address: string, certificateSha256: string): void;
  /** Returns what was kept. The next one that is shown is kept instead. */
  forget(address: string): string | undefined;
}

export function openBmcPins(database: Sqlite): BmcPins {
  const find = database.prepare<[string], { certificate_sha256: string }>(
    'SELECT certificate_sha256 FROM bmc_pins WHERE address = ?',
  );
  const keep = database.prepare('INSERT OR IGNORE INTO bmc_pins (address, certificate_sha256) VALUES (?, ?)');
  const forget = database.prepare<[string], { certificate_sha256: string }>(
    'DELETE FROM bmc_pins WHERE address = ? RETURNING certificate_sha256',
  );
  return {
    find: (address) => find.get(address)?.certificate_sha256,
    keep: (address, certificateSha256) => void keep.run(address, certificateSha256),
    forget: (address) => forget.get(address)?.certificate_sha256,
  };
}
