import { waitForConsole } from '../waitForConsole.ts';
import { allEvents, type Workflow } from './deployment.ts';
import type { Line } from './line.ts';

/** One stretch of a machine's way from power on to the OS that answers. */
export interface BootPhase {
  phase: string;
  seconds: number;
}

/** Where the time of a deploy that succeeded went, in order: each phase ends where the next begins. */
export async function bootPhases(line: Line, machine: string, workflow: Workflow): Promise<BootPhase[]> {
  const events = await allEvents(line, workflow.workflowId);
  const event = (type: string) => Date.parse(events.find((one) => one.type === type)?.at ?? '');
  const stepEnd = (use: string) =>
    Date.parse(workflow.steps.find((step) => step.use === use)?.finishedAt ?? '');
  const console = async (pattern: RegExp) =>
    (await waitForConsole(line.rack.machine(machine), pattern, { timeoutMs: 5_000 })).at.getTime();
  const ends: [phase: string, at: number][] = [
    ['firmware until DHCP', event('boot.dhcp')],
    ['iPXE until its script', event('boot.script')],
    ['ramdisk until /init', await console(/RAILHEAD-INIT/)],
    ['/init until joined', event('agent.joined')],
    ['joined until written', stepEnd('deploy.deploy')],
    ['restart until the OS answers', await console(/RAILHEAD-OS/)],
  ];
  let since = stepEnd('power.setPower');
  return ends.map(([phase, at]) => {
    const seconds = Math.round((at - since) / 100) / 10;
    since = at;
    return { phase, seconds };
  });
}
