import { RailheadError } from '#contract/errors.ts';
import { defineProfile, type Profile } from '#contract/profiles.ts';
import { builtinProfiles } from './builtin.ts';

/** The profiles that ship with the centre: its own and those of whoever embeds it. Read-only, visible to every tenant. */
export interface ShippedProfiles {
  /** By id, then version. */
  all: readonly Profile[];
  /** The latest version when none is named. */
  find(profileId: string, version?: number): Profile | undefined;
}

/** @throws RailheadError INVALID_CONFIG for a document that is no profile, or a version that ships already */
export function openShippedProfiles(own: readonly unknown[] = []): ShippedProfiles {
  const all = [...builtinProfiles, ...own.map(defineProfile)].toSorted(byIdThenVersion);
  const twice = all.find((profile, index) => index > 0 && isSame(profile, all[index - 1]));
  if (twice !== undefined)
    throw new RailheadError(
      'INVALID_CONFIG',
      `profile ${twice.id}@${twice.version} ships twice: bump the version`,
      {
        path: 'profiles',
      },
    );
  const find = (profileId: string, version?: number) =>
    all.findLast(({ id, version: one }) => id === profileId && (version === undefined || one === version));
  return { all, find };
}

/**
 * The shipped profile that metal itself runs.
 * @throws Error when there is none of this name: a fault of the program
 */
export function metalProfile(profileId: string): Profile {
  const profile = builtinProfiles.find(({ id }) => id === profileId);
  if (profile === undefined) throw new Error(`no profile ${profileId} ships`);
  return profile;
}

/** Ids in the order of their bytes, as the database sorts them. */
function byIdThenVersion(one: Profile, other: Profile): number {
  if (one.id !== other.id) return one.id < other.id ? -1 : 1;
  return one.version - other.version;
}

function isSame(one: Profile, other: Profile | undefined): boolean {
  return one.id === other?.id && one.version === other.version;
}
