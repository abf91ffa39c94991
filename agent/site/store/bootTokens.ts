import { createHash, randomBytes } from 'node:crypto';
import type { Sqlite } from '#base/sqlite.ts';

/** What a boot token stands for. `claimedBy` is the thumbprint of the keys that joined with it first. */
export interface BootToken {
  mac: string;
  entryId: string;
  nodeId: string;
  /** The address that it was handed to. */
  address: string;
  bootId: string;
  /** Milliseconds; the boot entry's. */
  expiresAt: number;
  claimedBy?: string;
  /** Two claimants have shown up: nobody joins with it any more. */
  contested: boolean;
}

/** Boot tokens, kept hashed: one per MAC, the newest replaces the older. */
export interface BootTokens {
  /**
   * Makes the token of a MAC and returns its text, which is nowhere else. Within one boot the claim stays: a machine whose ramdisk
   * has joined asks for no further script before it boots anew.
   */
  mint(facts: Omit<BootToken, 'claimedBy' | 'contested'>): string;
  find(token: string): BootToken | undefined;
  claim(mac: string, claimedBy: string): void;
  contest(mac: string): void;
  forget(nodeId: string): void;
  /** Forgets tokens that expired before `before` (milliseconds). */
  prune(before: number): void;
}

interface Row {
  mac: string;
  entry_id: string;
  node_id: string;
  address: string;
  boot_id: string;
  expires_at: number;
  claimed_by: string | null;
  contested: number;
}

/**
 * Tokens are random and long: a plain hash keeps them as safe as a slow one would. That the look-up by it takes no constant time tells
 * nobody anything, since nobody can choose a token by the beginning of its hash.
 */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

export function newToken(): string {
  return randomBytes(24).toString('base64url');
}

export function openBootTokens(database: Sqlite): BootTokens {
  const mint = database.prepare(
    `INSERT INTO boot_tokens (mac, hash, entry_id, node_id, address, boot_id, expires_at)
     VALUES (@mac, @hash, @entryId, @nodeId, @address, @bootId, @expiresAt)
     ON CONFLICT (mac) DO UPDATE SET hash = @hash, entry_id = @entryId, node_id = @nodeId, address = @address,
       boot_id = @bootId, expires_at = @expiresAt,
       claimed_by = iif(boot_id = @bootId, claimed_by, NULL), contested = iif(boot_id = @bootId, contested, 0)`,
  );
  const find = database.prepare<[string], Row>('SELECT * FROM boot_tokens WHERE hash = ?');
  const claim = database.prepare('UPDATE boot_tokens SET claimed_by = ? WHERE mac = ?');
  const contest = database.prepare('UPDATE boot_tokens SET contested = 1 WHERE mac = ?');
  const forget = database.prepare('DELETE FROM boot_tokens WHERE node_id = ?');
  const prune = database.prepare('DELETE FROM boot_tokens WHERE expires_at < ?');
  return {
    mint: (facts) => {
      const token = newToken();
      mint.run({ ...facts, hash: hashToken(token) });
      return token;
    },
    find: (token) => {
      const row = find.get(hashToken(token));
      return row && bootToken(row);
    },
    claim: (mac, claimedBy) => void claim.run(claimedBy, mac),
    contest: (mac) => void contest.run(mac),
    prune: (before) => void prune.run(before),
    forget: (nodeId) => void forget.run(nodeId),
  };
}

function bootToken(row: Row): BootToken {
  return {
    mac: row.mac,
    entryId: row.entry_id,
    nodeId: row.node_id,
    address: row.address,
    bootId: row.boot_id,
    expiresAt: row.expires_at,
    ...(row.claimed_by === null ? {} : { claimedBy: row.claimed_by }),
    contested: row.contested === 1,
  };
}
