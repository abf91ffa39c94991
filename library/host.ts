import { type Grant, parseGrant } from '#central/api/grants.ts';
import { createToken as createTokenIn } from '#central/api/tokens.ts';
import { onHost } from '#central/host.ts';
import {
  addImageSigner as addSignerIn,
  revokeImageSigner as revokeSignerIn,
} from '#central/images/signers.ts';
import { evictionCandidates as candidatesAt, type EvictionCandidate } from '#central/siteCaches/eviction.ts';
import { type CachedAtSite, imagesCachedAt as cachedAt } from '#central/siteCaches/locations.ts';

/** Where a control plane is kept: only who has it can do what no API may. It works whether the control plane runs or not. */
export interface Host {
  directory: string;
}

/**
 * Puts a signer on a tenant's allowlist; on `root`'s it is the platform's.
 * @throws RailheadError INVALID_INPUT for a key that is not SPKI PEM of Ed25519 or ECDSA P-256, CONFLICT for a signer in use
 */
export function addImageSigner(
  { directory }: Host,
  signer: { tenantId: string; signerId: string; publicKey: string },
): Promise<void> {
  return onHost(directory, ({ store }) => addSignerIn(store, signer));
}

/**
 * Takes a signer off an allowlist: images that it vouched for no longer deploy.
 * @throws RailheadError NOT_FOUND when there is no such signer in use
 */
export function revokeImageSigner(
  { directory }: Host,
  { tenantId, signerId }: { tenantId: string; signerId: string },
): Promise<void> {
  return onHost(directory, ({ store }) => revokeSignerIn(store, tenantId, signerId));
}

/**
 * Mints an operator's token. It is returned once and stored hashed.
 * @throws RailheadError INVALID_INPUT for a grant that is none, e.g. `compute:images:publish@compute-tenant:root`
 */
export function createToken(
  { directory }: Host,
  { name, grants, validMs }: { name: string; grants: readonly (string | Grant)[]; validMs: number },
): Promise<{ tokenId: string; token: string; expiresAt: string }> {
  const parsed = grants.map((grant) => (typeof grant === 'string' ? parseGrant(grant) : grant));
  return onHost(directory, ({ store }) => createTokenIn(store, { name, grants: parsed, validMs }));
}

/** The images that a site has ready, by ref. */
export function imagesCachedAt({ directory }: Host, siteId: string): Promise<CachedAtSite[]> {
  return onHost(directory, ({ store }) => cachedAt(store, siteId));
}

/**
 * What a site would give up to free `bytes`: its least recently used ready images, never one that a deploy has pinned or that is
 * among `inUse` (image ids). A site evicts by itself; this is for whoever plans its disk.
 */
export function evictionCandidates(
  { directory }: Host,
  siteId: string,
  bytes: number,
  inUse: ReadonlySet<string> = new Set(),
): Promise<EvictionCandidate[]> {
  return onHost(directory, ({ store }) => candidatesAt(store, siteId, bytes, inUse));
}
