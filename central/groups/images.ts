import Type from 'typebox';
import { RailheadError } from '#contract/errors.ts';
import { newId } from '#contract/ids.ts';
import {
  type Image,
  ImageId,
  ImageKind,
  imageSigningInput,
  RegisterImage,
  TenantId,
} from '#contract/images.ts';
import { verifySignature } from '#contract/signing.ts';
import { decodeCursor, type PageOf, pageFields, pageOf } from '../api/cursor.ts';
import { itemScopes, tenantScopes } from '../api/grants.ts';
import { type Group, method } from '../api/method.ts';
import { findSigner, rootTenant } from '../images/signers.ts';
import { allSites } from '../signals.ts';
import { isDuplicate, now, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';

const closed = { additionalProperties: false };
const OneImage = Type.Object({ tenantId: TenantId, imageId: ImageId }, closed);
const ImageList = Type.Object({ tenantId: TenantId, kind: Type.Optional(ImageKind), ...pageFields }, closed);

/** The catalog of OS images and ramdisks. */
export const images: Group = {
  register: method({
    kind: 'mutation',
    action: 'compute:images:publish',
    input: RegisterImage,
    scopes: ({ tenantId }) => tenantScopes(tenantId),
    run: async ({ store, signals }, input) => {
      const image = await register(store, input);
      signals.notify(allSites);
      return image;
    },
  }),
  get: method({
    kind: 'read',
    action: 'compute:images:read',
    input: OneImage,
    scopes: ({ tenantId, imageId }) => itemScopes('compute-image', imageId, tenantId),
    run: async ({ store }, { tenantId, imageId }) =>
      presentImage(await visibleImage(store, tenantId, imageId)),
  }),
  list: method({
    kind: 'read',
    action: 'compute:images:read',
    input: ImageList,
    scopes: ({ tenantId }) => tenantScopes(tenantId),
    run: ({ store }, input) => list(store, input),
  }),
  promote: method({
    kind: 'mutation',
    action: 'compute:images:publish',
    input: OneImage,
    scopes: ({ tenantId, imageId }) => itemScopes('compute-image', imageId, tenantId),
    run: async ({ store, signals }, { tenantId, imageId }) => {
      const image = await promote(store, tenantId, imageId);
      signals.notify(allSites);
      return image;
    },
  }),
};

async function register(store: Queries, input: RegisterImage): Promise<Image> {
  checkSource(input.source);
  const signerTenantId = await vouchingTenant(store, input);
  const row: Row<'images'> = {
    image_id: newId('img'),
    tenant_id: input.tenantId,
    ref: input.ref,
    kind: input.kind,
    format: input.format,
    compression: input.compression,
    sha256: input.sha256.toLowerCase(),
    size_bytes: input.sizeBytes ?? null,
    source: input.source,
    signature: input.signature ?? null,
    signer_id: input.signerId ?? null,
    signer_tenant_id: signerTenantId ?? null,
    verified: signerTenantId === undefined ? 0 : 1,
    visibility: 'private',
    created_at: now(),
  };
  await insertImage(store, row);
  return presentImage(row);
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

function checkSource(source: string): void {
  const url = URL.parse(source);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'oci:'))
    throw new RailheadError('INVALID_INPUT', 'source must be an https:// or oci:// URL', { path: 'source' });
  if (url.username !== '' || url.password !== '')
    throw new RailheadError('INVALID_INPUT', 'source must not hold credentials', { path: 'source' });
}

/** The tenant whose allowlist vouches for a new image; undefined for an unsigned one. */
async function vouchingTenant(store: Queries, input: RegisterImage): Promise<string | undefined> {
  const { signature, signerId, tenantId, kind } = input;
  if ((signature === undefined) !== (signerId === undefined))
    throw new RailheadError('INVALID_INPUT', 'signature and signerId go together', {
      path: signature === undefined ? 'signature' : 'signerId',
    });
  if (signature === undefined || signerId === undefined) {
    if (kind === 'ramdisk') throw untrustedSigner('a ramdisk must be signed by a platform signer');
    return undefined;
  }
  const allowlists = kind === 'ramdisk' ? [rootTenant] : [tenantId, rootTenant];
  for (const allowlist of allowlists) {
    const signer = await findSigner(store, allowlist, signerId);
    if (signer !== undefined && verifySignature(signer.public_key, imageSigningInput(input), signature))
      return allowlist;
  }
  throw untrustedSigner(`the signature is not one of signer ${signerId} over this image`);
}

function untrustedSigner(message: string): RailheadError {
  return new RailheadError('INVALID_INPUT', message, { path: 'signature', reason: 'signature' });
}

async function visibleImage(store: Queries, tenantId: string, imageId: string): Promise<Row<'images'>> {
  const image = await store
    .selectFrom('images')
    .selectAll()
    .where('image_id', '=', imageId)
    .executeTakeFirst();
  if (image === undefined || (image.tenant_id !== tenantId && image.visibility !== 'public'))
    throw new RailheadError('NOT_FOUND', `there is no image ${imageId} for tenant ${tenantId}`, { imageId });
  return image;
}

async function list(
  store: Queries,
  { tenantId, kind, limit, cursor }: Type.Static<typeof ImageList>,
): Promise<PageOf<Image>> {
  let query = store
    .selectFrom('images')
    .selectAll()
    .where((where) => where.or([where('tenant_id', '=', tenantId), where('visibility', '=', 'public')]))
    .orderBy('ref')
    .orderBy('image_id')
    .limit(limit + 1);
  if (kind !== undefined) query = query.where('kind', '=', kind);
  if (cursor !== undefined) {
    // The cursor holds the id alone: a ref may be longer than a cursor.
    const [imageId] = decodeCursor(cursor, 'string');
    const { ref } = await visibleImage(store, tenantId, imageId);
    query = query.where((where) =>
      where.or([
        where('ref', '>', ref),
        where.and([where('ref', '=', ref), where('image_id', '>', imageId)]),
      ]),
    );
  }
  return pageOf(await query.execute(), limit, (row) => [row.image_id], presentImage);
}

async function promote(store: Queries, tenantId: string, imageId: string): Promise<Image> {
  const image = await visibleImage(store, tenantId, imageId);
  if (image.tenant_id !== tenantId)
    throw new RailheadError('NOT_FOUND', `tenant ${tenantId} does not own an image ${imageId}`, { imageId });
  if (image.verified === 0)
    throw new RailheadError('INVALID_STATE', 'only a verified image can be made public: register it signed', {
      reason: 'unsigned',
      imageId,
    });
  await store.updateTable('images').set({ visibility: 'public' }).where('image_id', '=', imageId).execute();
  return presentImage({ ...image, visibility: 'public' });
}

function presentImage(row: Row<'images'>): Image {
  const { size_bytes: sizeBytes, signature, signer_id: signerId } = row;
  return {
    imageId: row.image_id,
    tenantId: row.tenant_id,
    ref: row.ref,
    kind: row.kind,
    format: row.format,
    compression: row.compression,
    sha256: row.sha256,
    ...(sizeBytes === null ? {} : { sizeBytes }),
    source: row.source,
    ...(signature === null || signerId === null ? {} : { signature, signerId }),
    verified: row.verified === 1,
    visibility: row.visibility,
    createdAt: row.created_at,
  };
}
