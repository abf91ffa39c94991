import type { StepInput, StepName } from '#contract/steps.ts';
import type { StepResult, StepRun } from '../stepRun.ts';
import { cleanUp } from './boot.cleanUp.ts';
import { kexec } from './boot.kexec.ts';
import { prepareRamdisk } from './boot.prepareRamdisk.ts';
import { deploy } from './deploy.deploy.ts';
import { setBootDevice } from './management.setBootDevice.ts';
import { getPower } from './power.getPower.ts';
import { setPower } from './power.setPower.ts';
import { render } from './userdata.render.ts';
import { agentJoined } from './wait.agentJoined.ts';

/** How each step of the contract is carried out; one that is missing does not compile. */
export const executors: {
  readonly [Name in StepName]: (run: StepRun, input: StepInput<Name>) => Promise<StepResult>;
} = {
  'power.getPower': getPower,
  'power.setPower': setPower,
  'management.setBootDevice': setBootDevice,
  'boot.prepareRamdisk': prepareRamdisk,
  'boot.cleanUp': cleanUp,
  'deploy.deploy': deploy,
  'boot.kexec': kexec,
  'userdata.render': render,
  'wait.agentJoined': agentJoined,
};
