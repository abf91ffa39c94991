import { rm } from 'node:fs/promises';
import path from 'node:path';
import { type Line, type LineOptions, startLine } from '#rack/line/line.ts';
import type { CaseOptions } from './endToEndCase.ts';
import { leftovers } from './leftovers.ts';
import type { Report } from './report.ts';

/** Cases run one at a time: one prefix, one directory, so that each run removes what a killed one left. */
const prefix = 'e2e';
const directory = path.resolve(import.meta.dirname, '../../.rack/e2e');

export type LineSetup = Pick<
  LineOptions,
  'machines' | 'osSource' | 'provisioning' | 'boot' | 'neighbours'
> & {
  os?: Partial<LineOptions['os']>;
};

/** What the cases deploy. */
export const osRef = 'demo-os@2026.11';

/** Brings a line up, runs `body` on it, takes it down, and checks that nothing of it is left. */
export async function withLine(
  report: Report,
  options: CaseOptions,
  setup: LineSetup,
  body: (line: Line) => Promise<void>,
): Promise<void> {
  report.phase('prepare');
  const progress = (text: string) => console.error(`  ${text}`);
  const line = await startLine({
    ...setup,
    os: { ref: osRef, ...setup.os },
    prefix,
    directory,
    progress,
    signal: options.signal,
  });
  try {
    await body(line);
  } finally {
    report.phase('clean up');
    await line.close();
    const left = await leftovers(prefix, directory);
    report.check('nothing is left behind', left.length === 0, left);
    if (report.ok && !options.keep) await rm(directory, { recursive: true, force: true });
    else console.error(`  logs, disks and consoles are in ${directory}`);
  }
}
