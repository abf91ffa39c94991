import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Whom an image's URL is for. */
export interface ImageGrant {
  digest: string;
  nodeId: string;
  /** The keys that the machine has joined by. */
  claimedBy: string;
  /** The machine's address. */
  peer: string;
}

/** URLs of images that are good for one machine and a while. */
export interface ImageUrls {
  /** A path with its query, and when it ends (milliseconds). */
  mint(grant: ImageGrant, now: number): { url: string; expiresAt: number };
  /** Whether this query was minted for this grant and has not ended. */
  isGood(query: ImageQuery, grant: ImageGrant, now: number): boolean;
}

/** What a URL says of itself. */
export interface ImageQuery {
  node: string;
  /** Milliseconds since the epoch. */
  expires: string;
  signature: string;
}

/** A machine asks anew for every connection that it makes: it must do so within this, in milliseconds; what has begun goes on to its end. */
const lifeMs = 5 * 60_000;

/** The key lives as long as the agent: after a restart machines ask anew. */
export function openImageUrls(key: Buffer = randomBytes(32)): ImageUrls {
  const signatureOf = ({ digest, nodeId, claimedBy, peer }: ImageGrant, expires: string) =>
    createHmac('sha256', key)
      .update(JSON.stringify([digest, nodeId, claimedBy, peer, expires]))
      .digest();
  return {
    mint: (grant, now) => {
      const expiresAt = now + lifeMs;
      const expires = String(expiresAt);
      const signature = signatureOf(grant, expires).toString('base64url');
      const query = new URLSearchParams({ node: grant.nodeId, expires, signature });
      return { url: `/v1/images/sha256/${grant.digest}?${query}`, expiresAt };
    },
    isGood: ({ expires, signature }, grant, now) => {
      const shown = Buffer.from(signature, 'base64url');
      const right = signatureOf(grant, expires);
      return shown.length === right.length && timingSafeEqual(shown, right) && now < Number(expires);
    },
  };
}
