import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { EndToEndCase } from '../endToEndCase.ts';
import { leftovers } from '../leftovers.ts';
import type { Report } from '../report.ts';

const project = path.resolve(import.meta.dirname, '../../..');
const directory = path.join(project, '.rack/demo');

export const interrupt: EndToEndCase = {
  name: 'interrupt',
  about:
    'the demo is ended in the middle by SIGINT twice, by SIGTERM, and by kill -9 before the next run: nothing is left',
  async run(report, { signal }) {
    await endedInTheMiddle(report, 'SIGINT twice', signal, ['SIGINT', 'SIGINT']);
    await endedInTheMiddle(report, 'SIGTERM', signal, ['SIGTERM']);
    report.phase('kill -9');
    const killed = await startedDemo(signal);
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    await endedInTheMiddle(report, 'the run after kill -9', signal, ['SIGTERM']);
  },
};

async function endedInTheMiddle(
  report: Report,
  what: string,
  signal: AbortSignal,
  signals: NodeJS.Signals[],
): Promise<void> {
  report.phase(what);
  const demo = await startedDemo(signal);
  for (const one of signals) demo.kill(one);
  const [status] = await once(demo, 'exit');
  report.check(`${what}: an end with a status of its own`, status === 1, status);
  const left = await leftovers('demo', directory);
  report.check(`${what}: nothing is left behind`, left.length === 0, left);
}

/** The demo, once its machines are being powered on. */
async function startedDemo(signal: AbortSignal): Promise<ChildProcess> {
  const demo = spawn(process.execPath, [path.join(project, 'rack/demo/main.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    signal,
  });
  demo.on('error', () => {});
  // Its output is read to the end: a demo that cannot write would end for that reason.
  const lines = createInterface({ input: demo.stdout as Readable });
  const poweredOn = new Promise<boolean>((resolve) => {
    lines.on('line', (line) => line.includes('wait.agentJoined') && resolve(true));
    lines.on('close', () => resolve(false));
  });
  if (await poweredOn) return demo;
  throw new Error('the demo ended before its machines were powered on');
}
