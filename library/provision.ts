/** `railhead/provision`: the catalog of images, profiles, user data and host configuration. */

export type { ImageVerification, ImageVerifier, Vouched } from '#central/images/verifier.ts';
export type { EvictionCandidate } from '#central/siteCaches/eviction.ts';
export type { CachedAtSite } from '#central/siteCaches/locations.ts';
export { bcdJoinArgv, bcdNodeArgv, type JoinArguments } from '#central/userData/argv.ts';
export type { Template, TemplateVariables } from '#central/userData/render.ts';
export type { UserDataSettings } from '#central/userData/settings.ts';
export type { ConfigUnit } from '#contract/hostConfig/desired.ts';
export {
  type Image,
  imageSigningInput,
  type RegisterImage,
  type SignedImageFacts,
} from '#contract/images.ts';
export { defineProfile, type Profile, type ProfileStep } from '#contract/profiles.ts';
export { addImageSigner, evictionCandidates, imagesCachedAt, revokeImageSigner } from './host.ts';
export { type Module, type ProvisionSettings, provisionModule } from './modules.ts';
