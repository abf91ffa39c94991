import type { Image, RegisterImage } from '#contract/images.ts';
import type { Profile } from '#contract/profiles.ts';

/** An operator's token: `railhead central token create`, or `createToken`. */
export type Credential = string;

/** One method: what it takes, and what it answers. Every failure is a RailheadError. */
export type ApiCall<Input, Output> = (credential: Credential, input: Input) => Promise<Output>;
/** A method whose answer is described by the OpenAPI document alone. */
export type AnyCall = ApiCall<Record<string, unknown>, Record<string, unknown>>;

type Defaulted<Input, Names extends keyof Input> = Omit<Input, Names> & Partial<Pick<Input, Names>>;
interface Page<Item> {
  items: Item[];
  /** There when more may follow. */
  cursor?: string;
}
interface Paging {
  tenantId: string;
  limit?: number;
  cursor?: string;
}

export interface ImagesApi {
  register: ApiCall<Defaulted<RegisterImage, 'kind' | 'compression'>, Image>;
  get: ApiCall<{ tenantId: string; imageId: string }, Image>;
  list: ApiCall<Paging & { kind?: 'os' | 'ramdisk' }, Page<Image>>;
  promote: ApiCall<{ tenantId: string; imageId: string }, Image>;
}

export interface StoredProfile {
  tenantId: string;
  profileId: string;
  profileVersion: number;
  visibility: 'private' | 'public';
  document: Profile;
}

export interface ProfilesApi {
  create: ApiCall<{ tenantId: string; document: object; visibility?: 'private' | 'public' }, StoredProfile>;
  get: ApiCall<{ tenantId: string; profileId: string; profileVersion?: number }, StoredProfile>;
  list: ApiCall<Paging, Page<StoredProfile>>;
  validate: ApiCall<
    { tenantId: string; profileId: string; profileVersion?: number },
    { valid: boolean; issues: { path: string; message: string }[] }
  >;
  [method: string]: ApiCall<never, unknown>;
}

export interface PoolsApi {
  create: ApiCall<
    { tenantId: string; siteId: string; class?: 'metal-host'; policy?: Record<string, unknown> },
    { poolId: string; siteId: string; policy: Record<string, unknown> }
  >;
  [method: string]: ApiCall<never, unknown>;
}

/** The API by group. The groups without a type of their own are those of the OpenAPI document. */
export interface ComputeApi {
  images: ImagesApi;
  profiles: ProfilesApi;
  pools: PoolsApi;
  metal: Readonly<Record<string, AnyCall>>;
  nodes: Readonly<Record<string, AnyCall>>;
  sites: Readonly<Record<string, AnyCall>>;
  tenants: Readonly<Record<string, AnyCall>>;
  workflows: Readonly<Record<string, AnyCall>>;
}
