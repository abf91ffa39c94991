import Type from 'typebox';
import { RailheadError } from '#contract/errors.ts';
import { TenantId } from '#contract/images.ts';
import { openSignerKey } from '#contract/signing.ts';
import { validate } from '#contract/validate.ts';
import { noteHostChange } from '../hostChanges.ts';
import { now, type Queries, type Store } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { inTenant } from '../tenants.ts';

const NewSigner = Type.Object(
  {
    tenantId: TenantId,
    /** Of one line, as every name that people read in lists. */
    signerId: Type.String({ minLength: 1, maxLength: 128, pattern: '^[^\\u0000-\\u001f\\u007f]+$' }),
    publicKey: Type.String(),
  },
  { additionalProperties: false },
);

/**
 * Puts a signer on a tenant's allowlist; on `root`'s it is the platform's. A revoked signer may be added again, with the same
 * key or another one.
 * @throws RailheadError NOT_FOUND for a tenant that there is not, INVALID_INPUT for a key that is not SPKI PEM of Ed25519 or ECDSA P-256,
 *   CONFLICT for a signer in use
 */
export async function addImageSigner(
  store: Store,
  signer: { tenantId: string; signerId: string; publicKey: string },
): Promise<void> {
  const valid = validate(NewSigner, signer);
  await inTenant(store, valid.tenantId, (queries) => insertSigner(queries, valid));
}

async function insertSigner(
  queries: Queries,
  { tenantId, signerId, publicKey }: Type.Static<typeof NewSigner>,
): Promise<void> {
  const values = { public_key: canonicalKey(publicKey), created_at: now(), revoked_at: null };
  const { numInsertedOrUpdatedRows } = await queries
    .insertInto('image_signers')
    .values({ tenant_id: tenantId, signer_id: signerId, ...values })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'signer_id'])
        .doUpdateSet(values)
        .where('image_signers.revoked_at', 'is not', null),
    )
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows === 0n)
    throw new RailheadError('CONFLICT', `signer ${signerId} exists; revoke it first`, { path: 'signerId' });
  await noteHostChange(queries);
}

/**
 * Takes a signer off an allowlist: images that it vouched for keep their flag, and no longer deploy.
 * @throws RailheadError NOT_FOUND when there is no such signer in use
 */
export async function revokeImageSigner(store: Queries, tenantId: string, signerId: string): Promise<void> {
  const { numUpdatedRows } = await store
    .updateTable('image_signers')
    .set({ revoked_at: now() })
    .where('tenant_id', '=', tenantId)
    .where('signer_id', '=', signerId)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n)
    throw new RailheadError('NOT_FOUND', `tenant ${tenantId} has no signer ${signerId} in use`, {
      path: 'signerId',
    });
  await noteHostChange(store);
}

/** Takes every signer off a tenant's allowlist. */
export async function revokeSignersOf(queries: Queries, tenantId: string): Promise<void> {
  await queries
    .updateTable('image_signers')
    .set({ revoked_at: now() })
    .where('tenant_id', '=', tenantId)
    .where('revoked_at', 'is', null)
    .execute();
  await noteHostChange(queries);
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

/** One spelling of a key, whatever the file around it looked like. */
function canonicalKey(publicKey: string): string {
  const key = openSignerKey(publicKey);
  if (key !== undefined) return key.export({ type: 'spki', format: 'pem' }) as string;
  const message = 'the key must be an SPKI PEM of Ed25519 or ECDSA P-256 (openssl pkey -pubout)';
  throw new RailheadError('INVALID_INPUT', message, { path: 'publicKey' });
}
