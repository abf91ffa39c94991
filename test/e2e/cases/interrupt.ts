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
    await endedInTheMiddle(report, signal, ['SIGINT', 'SIGINT']);
    await endedInTheMiddle(report, signal, ['SIGTERM']);
    report.phase('kill -9');
    const killed = await startedDemo(signal);
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    await endedInTheMiddle(report, signal, ['SIGTERM']);
  },
};

async function endedInTheMiddle(
  report: Report,
  signal: AbortSignal,
  signals: NodeJS.Signals[],
): Promise<void> {
  report.phase(`${signals.join(', ')}`);
  const demo = await startedDemo(signal);
  for (const one of signals) demo.kill(one);
  const [status] = await once(demo, 'exit');
  report.check(`${signals.join(', ')} is an end with a status of its own`, status === 1, status);
  const left = await leftovers('demo', directory);
  report.check(`${signals.join(', ')} leaves nothing behind`, left.length === 0, left);
}

/** The demo, once its machines are being powered on. */
async function startedDemo(signal: AbortSignal): Promise<ChildProcess> {
  const demo = spawn(process.execPath, [path.join(project, 'rack/demo/main.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    signal,
  });
  demo.on('error', () => {});
  for await (const line of createInterface({ input: demo.stdout as Readable })) {
    if (line.includes('wait.agentJoined')) return demo;
  }
  throw new Error('the demo ended before its machines were powered on');
}
