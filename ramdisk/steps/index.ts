import type { KeyObject } from 'node:crypto';
import type { ActionOf, OperationInput } from '#contract/operations.ts';
import type { Say } from '../console.ts';
import type { PinnedCentre } from '../join/trust.ts';
import type { ReportProgress } from '../operations/progress.ts';
import type { VerifiedOperation } from '../operations/verify.ts';
import type { Located } from '../stream/source.ts';
import { bootKexec } from './bootKexec.ts';
import { deployImage } from './deployImage.ts';
import { diagDcgm } from './diagDcgm.ts';
import { diskWipe } from './diskWipe.ts';
import { inventoryRefresh } from './inventoryRefresh.ts';

/** What a step is given beside its input. */
export interface StepContext {
  operationId: string;
  nodeId: string;
  /** The private key of this boot that secrets are sealed to. */
  sealing: KeyObject;
  /** Asks the site for what the operation refers to, sealed to this boot. */
  secret(ref: string): Promise<string>;
  /** Where the site's cache has an image, asked for anew at each request. */
  siteImage(digest: string): Promise<Located>;
  /** PEM of the CA that sources inside the operator's network may be certified by. */
  ca: string;
  /** What an installed OS is to know of the centre. */
  centre: PinnedCentre;
  /** By `steadyClock`: past it the step gives up waiting for what it needs before it begins. */
  deadline: number;
  progress: ReportProgress;
  say: Say;
  /** Aborted when the operation is cancelled or the agent ends. */
  signal: AbortSignal;
}

/** What a step returned; `afterwards` runs once the site has taken the result. */
export interface StepOutcome {
  result: Record<string, unknown>;
  afterwards?: () => Promise<void>;
}

export type Step<Action extends ActionOf<'ramdisk'>> = (
  input: OperationInput<Action>,
  context: StepContext,
) => Promise<StepOutcome>;

/** The executor of every action that is the ramdisk's: one that is missing does not compile. */
const steps: { readonly [Action in ActionOf<'ramdisk'>]: Step<Action> } = {
  'deploy.image': deployImage,
  'boot.kexec': bootKexec,
  'diag.dcgm': diagDcgm,
  'disk.wipe': diskWipe,
  'inventory.refresh': inventoryRefresh,
};

export function runStep(operation: VerifiedOperation, context: StepContext): Promise<StepOutcome> {
  const step = steps[operation.action] as Step<typeof operation.action>;
  return step(operation.input as never, context);
}
