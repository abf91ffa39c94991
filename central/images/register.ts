import { RailheadError } from '#contract/errors.ts';
import { newId } from '#contract/ids.ts';
import { canonicalSource } from '#contract/imageSource.ts';
import type { RegisterImage } from '#contract/images.ts';
import { isDuplicate, now, type Queries, type Store } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { inTenant, rootTenant } from '../tenants.ts';
import type { ImageVerifier } from './verifier.ts';

/**
 * Puts an image into a tenant's catalog, private; with a valid signature it is verified.
 * @throws RailheadError INVALID_INPUT for a source that no cache could pull, a signature that does not hold, or a ramdisk
 *   that no platform signer signed; CONFLICT when the tenant has the ref
 */
export async function registerImage(
  store: Store,
  input: RegisterImage,
  verifier: ImageVerifier,
): Promise<Row<'images'>> {
  const source = canonicalSource(input.source);
  const signerTenantId = await vouchingTenant(input, verifier);
  const row: Row<'images'> = {
    image_id: newId('img'),
    tenant_id: input.tenantId,
    ref: input.ref,
    kind: input.kind,
    format: input.format,
    compression: input.compression,
    sha256: input.sha256.toLowerCase(),
    size_bytes: input.sizeBytes ?? null,
    source,
    signature: input.signature ?? null,
    signer_id: input.signerId ?? null,
    signer_tenant_id: signerTenantId ?? null,
    verified: signerTenantId === undefined ? 0 : 1,
    visibility: 'private',
    created_at: now(),
  };
  await inTenant(store, row.tenant_id, (queries) => insertImage(queries, row));
  return row;
}

async function insertImage(store: Queries, row: Row<'images'>): Promise<void> {
  try {
    await store.insertInto('images').values(row).execute();
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    const message = `tenant ${row.tenant_id} has an image ${row.ref} already: register a new version`;
    throw new RailheadError('CONFLICT', message, { path: 'ref', ref: row.ref }, error);
  }
}

/** The tenant whose allowlist vouches for a new image; undefined for an unsigned one. */
async function vouchingTenant(input: RegisterImage, verifier: ImageVerifier): Promise<string | undefined> {
  const { signature, signerId, tenantId, kind } = input;
  if ((signature === undefined) !== (signerId === undefined))
    throw new RailheadError('INVALID_INPUT', 'signature and signerId go together', {
      path: signature === undefined ? 'signature' : 'signerId',
    });
  if (signature === undefined || signerId === undefined) {
    if (kind === 'ramdisk') throw untrustedSigner('a ramdisk must be signed by a platform signer');
    return undefined;
  }
  const allowlists = kind === 'ramdisk' ? [rootTenant] : new Set([tenantId, rootTenant]);
  for (const allowlist of allowlists)
    if ((await verifier({ image: input, signature, signerId, allowlist })) !== undefined) return allowlist;
  const who = kind === 'ramdisk' ? `platform signer ${signerId}` : `signer ${signerId}`;
  throw untrustedSigner(`the signature is not one of ${who} over this image`);
}

function untrustedSigner(message: string): RailheadError {
  return new RailheadError('INVALID_INPUT', message, { path: 'signature', reason: 'signature' });
}
