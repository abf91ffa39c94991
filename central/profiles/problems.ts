import { RailheadError } from '#contract/errors.ts';
import type { Issue } from '#contract/findIssues.ts';
import { configUnitIssues } from '#contract/hostConfig/configUnits.ts';
import { type Profile, profileIssues } from '#contract/profiles.ts';
import type { CentralContext } from '../context.ts';
import { findImage } from '../images/resolve.ts';
import { deployUse, verifyImageForUse } from '../images/verify.ts';
import { loadTemplate } from '../userData/templates.ts';
import { planIssues, writtenSteps } from '../workflows/plan.ts';
import { stepProblems } from './stepProblems.ts';

type Context = Pick<CentralContext, 'store' | 'userData' | 'configUnits' | 'images'>;

/**
 * Everything for which a workflow of this document would be refused or fail, as far as it can be known before: its form, every
 * step, the images, the template and the units that it names. In that order, each with its path.
 */
export async function profileProblems(
  context: Context,
  tenantId: string,
  document: unknown,
): Promise<Issue[]> {
  const malformed = profileIssues(document);
  if (malformed.length > 0) return malformed;
  const profile = document as Profile;
  return [
    ...(await imageProblems(context, tenantId, profile)),
    ...(await templateProblems(context, profile)),
    ...stepProblems(profile),
    ...configUnitIssues(profile.hostConfig, context.configUnits),
    ...planIssues(profile).map(({ path, message }) => ({ path, message })),
  ];
}

/** Images that the tenant cannot have written, or that do not verify now. */
async function imageProblems(
  { store, images }: Context,
  tenantId: string,
  profile: Profile,
): Promise<Issue[]> {
  const problems = imageRefs(profile).map(async ({ path, ref, isIso }) => {
    const image = await findImage(store, tenantId, ref);
    if (image === undefined) return { path, message: `there is no image ${ref} for ${tenantId}` };
    if ((image.format === 'iso') !== isIso)
      return {
        path,
        message: isIso ? `image ${ref} is no iso` : `image ${ref} is an iso: it goes through media.insert`,
      };
    return verifyImageForUse(store, image, deployUse(images, tenantId)).then(
      () => undefined,
      problemAt(path),
    );
  });
  return (await Promise.all(problems)).filter((problem) => problem !== undefined);
}

/** The images that a profile and its steps name, and whether what they are for takes an iso. */
function imageRefs(profile: Profile) {
  const { image } = profile;
  const own = image === undefined ? [] : [{ path: 'image.ref', ref: image.ref, isIso: false }];
  const ofSteps = writtenSteps(profile).flatMap(({ step, path }) => {
    const ref = step.with?.image;
    const isIso = step.use === 'media.insert';
    if (typeof ref !== 'string' || !(isIso || step.use === 'deploy.deploy')) return [];
    return [{ path: `${path}.with.image`, ref, isIso }];
  });
  return [...own, ...ofSteps];
}

async function templateProblems({ userData }: Context, profile: Profile): Promise<Issue[]> {
  if (profile.userData === undefined) return [];
  const problem = await loadTemplate(profile.userData, userData.templates).then(
    () => undefined,
    problemAt('userData.template'),
  );
  return problem === undefined ? [] : [problem];
}

/** What an error says of the field at `path`. */
function problemAt(path: string): (error: unknown) => Issue {
  return (error) => {
    if (!(error instanceof RailheadError)) throw error;
    return { path: error.details.path ?? path, message: error.message };
  };
}
