import Type from 'typebox';
import { ImageId, ImageKind, RegisterImage, TenantId } from '#contract/images.ts';
import { pageFields } from '../api/cursor.ts';
import { itemScopes, tenantScopes } from '../api/grants.ts';
import { type Group, method } from '../api/method.ts';
import { listImages, presentImage, promoteImage, visibleImage } from '../images/catalog.ts';
import { registerImage } from '../images/register.ts';
import { allowlistVerifier } from '../images/verifier.ts';
import { refreshSitesThatWant } from '../siteCaches/desired.ts';
import { queueHoldersOf } from '../siteCaches/inventory.ts';

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
    run: async (context, input) => {
      const { store, images: settings } = context;
      const image = await registerImage(store, input, settings.verifier ?? allowlistVerifier(store));
      await refreshSitesThatWant(context, image);
      await queueHoldersOf(context, image.sha256);
      return presentImage(image);
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
    items: 'compute-image',
    run: ({ store }, input, { only }) => listImages(store, input, only),
  }),
  promote: method({
    kind: 'mutation',
    action: 'compute:images:publish',
    input: OneImage,
    scopes: ({ tenantId, imageId }) => itemScopes('compute-image', imageId, tenantId),
    run: async (context, { tenantId, imageId }) => {
      const image = await promoteImage(context.store, tenantId, imageId);
      await refreshSitesThatWant(context, image);
      return presentImage(image);
    },
  }),
};
