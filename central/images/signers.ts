import { createPublicKey } from 'node:crypto';
import { RailheadError } from '#contract/errors.ts';
import { now, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';

/** The tenant whose signers are the platform's. */
export const rootTenant = 'root';

/**
 * Puts a signer on a tenant's allowlist; on `root`'s it is the platform's.
 * @throws RailheadError INVALID_INPUT for a key that is not SPKI PEM of Ed25519 or ECDSA P-256, CONFLICT for a signer in use
 */
export async function addImageSigner(
  store: Queries,
  signer: { tenantId: string; signerId: string; publicKey: string },
): Promise<void> {
  checkSignerKey(signer.publicKey);
  const key = { tenant_id: signer.tenantId, signer_id: signer.signerId };
  const values = { public_key: signer.publicKey, created_at: now(), revoked_at: null };
  const existing = await findSigner(store, signer.tenantId, signer.signerId);
  if (existing !== undefined)
    throw new RailheadError('CONFLICT', `signer ${signer.signerId} exists; revoke it first`, {
      path: 'signerId',
    });
  await store
    .insertInto('image_signers')
    .values({ ...key, ...values })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'signer_id']).doUpdateSet(values))
    .execute();
}

/** @throws RailheadError NOT_FOUND when there is no such signer in use */
export async function revokeImageSigner(store: Queries, tenantId: string, signerId: string): Promise<void> {
  const { numUpdatedRows } = await store
    .updateTable('image_signers')
    .set({ revoked_at: now() })
    .where('tenant_id', '=', tenantId)
    .where('signer_id', '=', signerId)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n)
    throw new RailheadError('NOT_FOUND', `tenant ${tenantId} has no signer ${signerId} in use`);
}

export function listImageSigners(store: Queries): Promise<Row<'image_signers'>[]> {
  return store.selectFrom('image_signers').selectAll().orderBy('tenant_id').orderBy('signer_id').execute();
}

/** The signer, unless it is unknown or revoked. */
export function findSigner(
  store: Queries,
  tenantId: string,
  signerId: string,
): Promise<Row<'image_signers'> | undefined> {
  return store
    .selectFrom('image_signers')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('signer_id', '=', signerId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
}

function checkSignerKey(publicKey: string): void {
  const refusal = new RailheadError(
    'INVALID_INPUT',
    'the key must be an SPKI PEM of Ed25519 or ECDSA P-256 (openssl pkey -pubout)',
    { path: 'publicKey' },
  );
  // createPublicKey would take a private key as well, and the catalog is no place for one.
  if (!publicKey.includes('BEGIN PUBLIC KEY')) throw refusal;
  let type: string | undefined;
  try {
    const key = createPublicKey(publicKey);
    type = key.asymmetricKeyType === 'ec' ? key.asymmetricKeyDetails?.namedCurve : key.asymmetricKeyType;
  } catch {
    throw refusal;
  }
  if (type !== 'ed25519' && type !== 'prime256v1') throw refusal;
}
