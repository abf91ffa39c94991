import { whyNotDriven } from '#contract/driverOperations.ts';
import type { Issue } from '#contract/findIssues.ts';
import type { Profile } from '#contract/profiles.ts';
import { isStepName, relayConcern, type StepInput, steps } from '#contract/steps.ts';
import { driverFor } from '../metal/driverBindings.ts';
import { type Written, writtenSteps } from '../workflows/plan.ts';

/** What a step of a profile needs of the profile's other fields, and of the steps before it, that is not there. */
export function stepProblems(profile: Profile): Issue[] {
  const before = new Set<string>();
  return writtenSteps(profile).flatMap((written) => {
    const problems = rules.flatMap((rule) => rule(written, profile, before));
    before.add(written.step.use);
    return problems;
  });
}

type Rule = (written: Written, profile: Profile, before: ReadonlySet<string>) => Issue[];

const rules: readonly Rule[] = [
  function needsImage({ step, path }, { image }) {
    if (step.use !== 'deploy.deploy' || step.with?.image !== undefined || image !== undefined) return [];
    return [
      {
        path: `${path}.with.image`,
        message: 'is required: the profile has no image that it could default to',
      },
    ];
  },
  function writesNoIso({ step, path }, { image }) {
    const isOwn = step.with?.image === undefined || step.with.image === image?.ref;
    if (step.use !== 'deploy.deploy' || !isOwn || image?.format !== 'iso') return [];
    return [{ path, message: 'cannot write an iso, which image.format says it is: use media.insert' }];
  },
  function hasRendered({ step, path }, { userData }, before) {
    const isLate = step.use === 'deploy.deploy' && userData !== undefined && !before.has('userdata.render');
    return isLate ? [{ path, message: 'comes before any userdata.render step' }] : [];
  },
  function hasSomethingToRender({ step, path }, { userData }) {
    if (step.use !== 'userdata.render' || userData !== undefined) return [];
    return [{ path, message: 'has nothing to render: the profile has no userData' }];
  },
  function isForItsTarget({ step, path }, { target }) {
    if (target === 'metal' || !isStepName(step.use) || !needsMachine(step.use)) return [];
    return [{ path: `${path}.use`, message: `${step.use} is for metal profiles only` }];
  },
  function isForTenants({ step, path }) {
    if (step.use !== 'bmc.rotatePassword') return [];
    return [{ path: `${path}.use`, message: 'is for nodes.rotateBmcPassword and metal.enroll alone' }];
  },
  function isDriven({ step, path }, { drivers }) {
    if (step.use !== 'driver.invoke') return [];
    const { concern, operation } = (step.with ?? {}) as Partial<StepInput<'driver.invoke'>>;
    if (concern === relayConcern)
      return [{ path: `${path}.with.concern`, message: 'is for nodes.redfish alone' }];
    const driver = typeof concern === 'string' ? driverFor(concern, {}, drivers)?.driver : undefined;
    const why = driver === undefined ? undefined : whyNotDriven(driver, `${concern}.${String(operation)}`);
    return why === undefined ? [] : [{ path: `${path}.with.operation`, message: why }];
  },
];

/** Steps of a BMC, of a site that boots machines, and of a ramdisk. */
function needsMachine(use: keyof typeof steps): boolean {
  return ['site', 'ramdisk'].includes(steps[use].runs) || use.startsWith('metal.');
}
