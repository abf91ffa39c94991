import { RailheadError } from '#contract/errors.ts';
import type { Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { rootTenant } from '../tenants.ts';
import { allowlistVerifier, type ImageSettings, type ImageVerifier, type Vouched } from './verifier.ts';
import { findWithdrawal } from './withdrawal.ts';
import { withdrawnError } from './withdrawnUse.ts';

/** What `verifyImageForUse` lets through, and how it checks. */
export interface ImageUse {
  verifier?: ImageVerifier | undefined;
  /** The tenant whose own unsigned OS images pass; left out: nobody's do. */
  unsignedOf?: string | undefined;
}

/** How images are checked that go to the machines of one tenant. */
export function deployUse({ deployVerifier, allowUnsigned }: ImageSettings, tenantId: string): ImageUse {
  return { verifier: deployVerifier, unsignedOf: allowUnsigned === true ? tenantId : undefined };
}

/**
 * Checks an image once more, right before use: that its digest is not withdrawn, and that its stored signature holds by
 * the allowlist that vouched for it at registration.
 * @throws RailheadError INVALID_STATE with reason `withdrawn`, `unsigned`, or `signature` when the signer was revoked or
 *   the row changed
 */
export async function verifyImageForUse(
  store: Queries,
  image: Row<'images'>,
  { verifier = allowlistVerifier(store), unsignedOf }: ImageUse = {},
): Promise<Vouched> {
  await refuseWithdrawn(store, image);
  const { signature, signer_id: signerId, signer_tenant_id: allowlist } = image;
  if (signature === null) {
    if (isOwnOs(image, unsignedOf)) return {};
    throw unusable(image, 'unsigned', 'is not signed: register a signed one');
  }
  const isWhole = image.verified === 1 && signerId !== null && allowlist !== null;
  const mayVouch = image.kind === 'os' || allowlist === rootTenant;
  const vouched = isWhole && mayVouch && (await verifier({ image, signature, signerId, allowlist }));
  if (vouched) return vouched;
  throw unusable(
    image,
    'signature',
    `is not vouched for by signer ${signerId} any more: register a signed one`,
  );
}

function isOwnOs(image: Row<'images'>, tenantId: string | undefined): boolean {
  return image.kind === 'os' && image.visibility === 'private' && image.tenant_id === tenantId;
}

/** @throws RailheadError INVALID_STATE, reason `withdrawn` */
async function refuseWithdrawn(store: Queries, image: Row<'images'>): Promise<void> {
  const withdrawal = await findWithdrawal(store, image.sha256);
  if (withdrawal !== undefined) throw withdrawnError(image, withdrawal);
}

function unusable({ ref, image_id: imageId }: Row<'images'>, reason: string, what: string): RailheadError {
  return new RailheadError('INVALID_STATE', `image ${ref} ${what}`, { reason, imageId, ref });
}
