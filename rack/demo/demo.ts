import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { WriteStream } from 'node:tty';
import { type BootPhase, bootPhases } from '../line/bootPhases.ts';
import { allEvents, deploy, followWorkflow } from '../line/deployment.ts';
import { type Line, type LineMachine, startLine } from '../line/line.ts';
import { askOs, type OsLine, waitForOs } from '../line/runningOs.ts';
import { type Display, openDisplay } from './display.ts';
import { type MachineProgress, workflowProgress } from './progress.ts';
import { timeline } from './timeline.ts';

const osRef = 'demo-os@2026.11';
const machines: readonly LineMachine[] = [
  { name: 'uefi', firmware: 'uefi', disks: [{ size: '8G' }] },
  { name: 'bios', firmware: 'bios', disks: [{ size: '8G' }] },
];
const directory = path.resolve(import.meta.dirname, '../../.rack/demo');
const patience = 10 * 60_000;

export interface DemoOptions {
  keep: boolean;
  signal: AbortSignal;
  output: WriteStream;
}

/** Two bare machines become running OSes. Resolves with whether both answered; leaves nothing behind. */
export async function demo({ keep, signal, output }: DemoOptions): Promise<boolean> {
  const say = (text: string) => output.write(`${text}\n`);
  const line = await startLine({
    prefix: 'demo',
    directory,
    machines,
    os: { ref: osRef },
    progress: say,
    signal,
  });
  try {
    const either = AbortSignal.any([signal, AbortSignal.timeout(patience)]);
    const answered = await bothMachines(line, either, output);
    say(answered ? '\nBoth machines were empty; both run an OS now.' : '\nNot every machine came up.');
    return answered;
  } finally {
    await line.close();
    if (!keep) await rm(directory, { recursive: true, force: true });
    else say(`logs, disks and consoles are in ${directory}`);
  }
}

async function bothMachines(line: Line, signal: AbortSignal, output: WriteStream): Promise<boolean> {
  output.write(`\nDeploying ${osRef} to two empty machines:\n`);
  const display = openDisplay(output);
  const progress = new Map<string, MachineProgress>();
  const outcomes = await Promise.all(
    machines.map(({ name }) => takeThrough(line, name, { display, progress, signal })),
  );
  display.end();
  for (const outcome of outcomes) output.write(`\n${outcome.report.join('\n')}\n`);
  return outcomes.every(({ answered }) => answered);
}

interface Watch {
  display: Display;
  progress: Map<string, MachineProgress>;
  signal: AbortSignal;
}

interface Outcome {
  answered: boolean;
  report: string[];
}

async function takeThrough(line: Line, name: string, { display, progress, signal }: Watch): Promise<Outcome> {
  const since = Date.now();
  const workflowId = await deploy(line, name, osRef);
  const workflow = await followWorkflow(line, workflowId, {
    signal,
    onChange: (current) => {
      progress.set(name, workflowProgress(name, current, Date.now() - since));
      display.show(machines.flatMap((machine) => progress.get(machine.name) ?? []));
    },
  });
  const events = timeline(name, await allEvents(line, workflowId));
  if (workflow.state !== 'succeeded')
    return {
      answered: false,
      report: [...events, `${name}: ${workflow.state}: ${workflow.error?.message ?? ''}`],
    };
  const os = await waitForOs(line, name, { timeoutMs: 60_000, signal });
  const answer = await askOs(os.address);
  const phases = await bootPhases(line, name, workflow);
  return {
    answered: isAnswerOf(os, answer),
    report: [...events, ...phaseLines(phases), `${name}: http://${os.address}/ answers`, answer.trimEnd()],
  };
}

function phaseLines(phases: readonly BootPhase[]): string[] {
  const total = phases.reduce((sum, { seconds }) => sum + seconds, 0);
  const rows = [...phases, { phase: 'power on to OS', seconds: total }];
  return ['', ...rows.map(({ phase, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${phase}`), ''];
}

function isAnswerOf({ hostname, image }: OsLine, answer: string): boolean {
  return answer.includes(hostname) && answer.includes(image);
}
