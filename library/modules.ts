import type { ImageSettings, ImageVerifier } from '#central/images/verifier.ts';
import type { HardwareProfile } from '#central/metal/driverBindings.ts';
import { checkUserData, type UserDataSettings } from '#central/userData/settings.ts';
import { RailheadError } from '#contract/errors.ts';
import { checkConfigUnits } from '#contract/hostConfig/configUnits.ts';
import type { ConfigUnit } from '#contract/hostConfig/desired.ts';
import { defineProfile, type Profile } from '#contract/profiles.ts';

/** What code adds to a control plane. Every module may ship profiles; they are read-only and visible to every tenant. */
export interface Module {
  name: string;
  profiles?: readonly Profile[];
  configUnits?: readonly ConfigUnit[];
  userData?: UserDataSettings;
  images?: ImageSettings;
  hardwareProfiles?: Readonly<Record<string, HardwareProfile>>;
}

export interface ProvisionSettings {
  /** Shipped profiles, listed under the tenant `builtin`. */
  profiles?: readonly Profile[];
  /** Units of host configuration beside the built-in ones. */
  configUnits?: readonly ConfigUnit[];
  userData?: UserDataSettings;
  /** Checks signatures at registration, in the place of the signer allowlists: Sigstore, a KMS. */
  imageVerifier?: ImageVerifier;
}

/**
 * Catalog, profiles, user data and host configuration.
 * @throws RailheadError INVALID_CONFIG whose `details.path` names the first field that cannot be used
 */
export function provisionModule(settings: ProvisionSettings = {}): Module {
  refuseUnknown('provisionModule', settings, ['profiles', 'configUnits', 'userData', 'imageVerifier']);
  const { profiles = [], configUnits = [], userData, imageVerifier } = settings;
  if (imageVerifier !== undefined && typeof imageVerifier !== 'function')
    throw refusal('imageVerifier', 'must be a function');
  return {
    name: 'provision',
    profiles: profiles.map(defineProfile),
    configUnits: checkConfigUnits(configUnits),
    ...(userData !== undefined && { userData: checkUserData(userData) }),
    ...(imageVerifier !== undefined && { images: { verifier: imageVerifier } }),
  };
}

export interface MetalSettings {
  /** What machines of one kind are driven by: a pool names one as `policy.hardwareProfile`, or a node its own. */
  hardwareProfiles?: Readonly<Record<string, HardwareProfile>>;
  images?: {
    /** Checks images right before they are deployed; pass what `provisionModule` was given as `imageVerifier`. */
    verifier?: ImageVerifier;
    /** Lets an unsigned OS image deploy that is private to its tenant. For development only. */
    allowUnsigned?: boolean;
  };
}

/**
 * What machines are driven by, and how images are checked before they are written.
 * @throws RailheadError INVALID_CONFIG whose `details.path` names the first field that cannot be used
 */
export function metal(settings: MetalSettings = {}): Module {
  refuseUnknown('metal', settings, ['hardwareProfiles', 'images']);
  const { hardwareProfiles = {}, images = {} } = settings;
  refuseUnknown('images', images, ['verifier', 'allowUnsigned']);
  const { verifier, allowUnsigned } = images;
  if (verifier !== undefined && typeof verifier !== 'function')
    throw refusal('images.verifier', 'must be a function');
  if (allowUnsigned !== undefined && typeof allowUnsigned !== 'boolean')
    throw refusal('images.allowUnsigned', 'must be true or false');
  return {
    name: 'metal',
    hardwareProfiles,
    images: {
      ...(verifier !== undefined && { deployVerifier: verifier }),
      ...(allowUnsigned !== undefined && { allowUnsigned }),
    },
  };
}

/** What all modules add up to. */
export type ModuleSettings = Required<Omit<Module, 'name'>>;

/** @throws RailheadError INVALID_CONFIG for two modules of one name, or that set the same thing */
export function combineModules(modules: readonly Module[]): ModuleSettings {
  const twice = modules.find(({ name }, index) => modules.findIndex((one) => one.name === name) < index);
  if (twice !== undefined) throw refusal('modules', `has two modules named ${twice.name}`);
  const configUnits = modules.flatMap((module) => module.configUnits ?? []);
  return {
    profiles: modules.flatMap((module) => (module.profiles ?? []).map(defineProfile)),
    configUnits: checkConfigUnits(configUnits),
    userData: merged(modules, 'userData'),
    images: merged(modules, 'images'),
    hardwareProfiles: merged(modules, 'hardwareProfiles'),
  };
}

function merged<Field extends 'userData' | 'images' | 'hardwareProfiles'>(
  modules: readonly Module[],
  field: Field,
): NonNullable<Module[Field]> {
  const all: Record<string, unknown> = {};
  for (const module of modules)
    for (const [name, value] of Object.entries(module[field] ?? {})) {
      if (Object.hasOwn(all, name)) throw refusal(`${field}.${name}`, `is set by two modules`);
      all[name] = value;
    }
  return all as NonNullable<Module[Field]>;
}

function refuseUnknown(what: string, settings: object, known: readonly string[]): void {
  const unknown = Object.keys(settings).find((name) => !known.includes(name));
  if (unknown !== undefined) throw refusal(unknown, `is no setting of ${what}: ${known.join(', ')} are`);
}

function refusal(path: string, why: string): RailheadError {
  return new RailheadError('INVALID_CONFIG', `${path}: ${why}`, { path });
}
