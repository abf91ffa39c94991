import type { Sqlite } from '#base/sqlite.ts';

/** The RMCP+ cipher suite that each BMC was found to speak. */
export interface CipherSuites {
  find(address: string): number | undefined;
  keep(address: string, suite: number): void;
}

export function openCipherSuites(database: Sqlite): CipherSuites {
  const find = database.prepare<[string], { suite: number }>(
    'SELECT suite FROM bmc_cipher_suites WHERE address = ?',
  );
  const keep = database.prepare('INSERT OR REPLACE INTO bmc_cipher_suites (address, suite) VALUES (?, ?)');
  return {
    find: (address) => find.get(address)?.suite,
    keep: (address, suite) => void keep.run(address, suite),
  };
}
