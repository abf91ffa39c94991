import type { Workflow } from '../line/deployment.ts';

/** What the demo shows of one machine while its workflow runs. */
export interface MachineProgress {
  name: string;
  /** What happens now, e.g. `deploy.deploy: writing`. */
  phase: string;
  /** Steps that ended, of all. */
  stepsDone: number;
  steps: number;
  /** Bytes of the artifact, while one is written. */
  doneBytes?: number;
  totalBytes?: number;
  seconds: number;
}

/** What a workflow's state says about its machine. */
export function workflowProgress(
  name: string,
  { state, steps }: Workflow,
  elapsedMs: number,
): MachineProgress {
  const running = steps.find((step) => step.state === 'running');
  const { phase, doneBytes, totalBytes } = running?.progress ?? {};
  return {
    name,
    phase: running === undefined ? state : [running.use, phase].filter(Boolean).join(': '),
    stepsDone: steps.filter((step) => step.finishedAt !== undefined).length,
    steps: steps.length,
    ...(doneBytes === undefined ? {} : { doneBytes }),
    ...(totalBytes === undefined ? {} : { totalBytes }),
    seconds: elapsedMs / 1000,
  };
}

const barWidth = 30;

/** One line of at most about 100 columns: name, bar, phase, bytes, time. */
export function progressLine(machine: MachineProgress): string {
  const filled = Math.round(barWidth * fraction(machine));
  const bar = '█'.repeat(filled) + '░'.repeat(barWidth - filled);
  return `${machine.name.padEnd(6)} ${bar} ${`${machine.seconds.toFixed(0)} s`.padStart(5)}  ${machine.phase}${bytes(machine)}`;
}

/** Steps that ended, and the share of the running one that its bytes tell. */
function fraction({ stepsDone, steps, doneBytes, totalBytes }: MachineProgress): number {
  if (steps === 0) return 0;
  const running = doneBytes !== undefined && totalBytes ? Math.min(doneBytes / totalBytes, 1) : 0;
  return Math.min((stepsDone + running) / steps, 1);
}

function bytes({ doneBytes, totalBytes }: MachineProgress): string {
  if (doneBytes === undefined || !totalBytes) return '';
  return ` ${megabytes(doneBytes)} of ${megabytes(totalBytes)} MB`;
}

function megabytes(count: number): string {
  return (count / 1e6).toFixed(1);
}
