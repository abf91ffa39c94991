import type { Sealer } from '#base/sealing.ts';
import type { Sqlite } from '#base/sqlite.ts';
import type { SecretContent, SecretVersion } from '#contract/secrets.ts';

/** The secrets that a site was given, encrypted in its database by a key that is kept elsewhere. */
export interface SecretStore {
  keep(content: SecretContent): void;
  /** The text of this very version; undefined when it is not here, or was encrypted by another key. */
  find(secret: SecretVersion): string | undefined;
  /** Whatever version of it is here. */
  findAny(secretId: string): string | undefined;
  /** Forgets every secret but these. */
  retain(secretIds: readonly string[]): void;
}

export function openSecretStore(database: Sqlite, sealer: Sealer): SecretStore {
  const write = database.prepare(
    'INSERT OR REPLACE INTO secrets (secret_id, version, sealed) VALUES (@secretId, @version, @sealed)',
  );
  const read = database.prepare<[string, number], { sealed: Buffer }>(
    'SELECT sealed FROM secrets WHERE secret_id = ? AND version = ?',
  );
  const readAny = database.prepare<[string], { version: number; sealed: Buffer }>(
    'SELECT version, sealed FROM secrets WHERE secret_id = ?',
  );
  const retain = database.prepare(
    'DELETE FROM secrets WHERE secret_id NOT IN (SELECT value FROM json_each(?))',
  );
  return {
    keep: (content) => {
      const { secretId, version } = content;
      write.run({ secretId, version, sealed: sealer.seal(JSON.stringify(content)) });
    },
    find: (secret) => {
      const row = read.get(secret.secretId, secret.version);
      return row && opened(sealer, row.sealed, secret);
    },
    findAny: (secretId) => {
      const row = readAny.get(secretId);
      return row && opened(sealer, row.sealed, { secretId, version: row.version });
    },
    retain: (secretIds) => void retain.run(JSON.stringify(secretIds)),
  };
}

function opened(sealer: Sealer, sealed: Buffer, { secretId, version }: SecretVersion): string | undefined {
  try {
    const content = JSON.parse(sealer.open(sealed)) as SecretContent;
    return content.secretId === secretId && content.version === version ? content.text : undefined;
  } catch {
    return undefined;
  }
}
