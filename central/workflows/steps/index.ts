import type { StepInput, StepName } from '#contract/steps.ts';
import type { StepResult, StepRun } from '../stepRun.ts';
import { rotatePassword } from './bmc.rotatePassword.ts';
import { cleanUp } from './boot.cleanUp.ts';
import { kexec } from './boot.kexec.ts';
import { prepareRamdisk } from './boot.prepareRamdisk.ts';
import { deploy } from './deploy.deploy.ts';
import { diagnose } from './diag.dcgm.ts';
import { wipeDisks } from './disk.wipe.ts';
import { invokeDriver } from './driver.invoke.ts';
import { inspectOob } from './inspect.oob.ts';
import { refreshInventory } from './inventory.refresh.ts';
import { setBootDevice } from './management.setBootDevice.ts';
import { ejectMedia } from './media.eject.ts';
import { insertMedia } from './media.insert.ts';
import { ensureRamdisk } from './metal.ensureRamdisk.ts';
import { revokeIdentity } from './metal.revokeIdentity.ts';
import { getPower } from './power.getPower.ts';
import { setPower } from './power.setPower.ts';
import { render } from './userdata.render.ts';
import { agentJoined } from './wait.agentJoined.ts';
import { generationObserved } from './wait.generationObserved.ts';

/** How each step of the contract is carried out; one that is missing does not compile. */
export const executors: {
  readonly [Name in StepName]: (run: StepRun, input: StepInput<Name>) => Promise<StepResult>;
} = {
  'power.getPower': getPower,
  'power.setPower': setPower,
  'management.setBootDevice': setBootDevice,
  'inspect.oob': inspectOob,
  'media.insert': insertMedia,
  'media.eject': ejectMedia,
  'bmc.rotatePassword': rotatePassword,
  'boot.prepareRamdisk': prepareRamdisk,
  'boot.cleanUp': cleanUp,
  'metal.ensureRamdisk': ensureRamdisk,
  'metal.revokeIdentity': revokeIdentity,
  'inventory.refresh': refreshInventory,
  'diag.dcgm': diagnose,
  'disk.wipe': wipeDisks,
  'deploy.deploy': deploy,
  'boot.kexec': kexec,
  'userdata.render': render,
  'wait.agentJoined': agentJoined,
  'wait.generationObserved': generationObserved,
  'driver.invoke': invokeDriver,
};
