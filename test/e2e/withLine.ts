import { readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { type Line, type LineOptions, startLine } from '#rack/line/line.ts';
import { listNamespaces } from '#rack/netns.ts';
import type { CaseOptions } from './endToEndCase.ts';
import type { Report } from './report.ts';

/** Cases run one at a time: one prefix, one directory, so that each run removes what a killed one left. */
const prefix = 'e2e';
const directory = path.resolve(import.meta.dirname, '../../.rack/e2e');

export type LineSetup = Pick<LineOptions, 'machines' | 'osSource'> & { os?: Partial<LineOptions['os']> };

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
  const line = await startLine({ ...setup, os: { ref: osRef, ...setup.os }, prefix, directory, progress });
  try {
    await body(line);
  } finally {
    report.phase('clean up');
    await line.close();
    await checkNothingLeft(report);
    if (report.ok && !options.keep) await rm(directory, { recursive: true, force: true });
    else console.error(`  logs, disks and consoles are in ${directory}`);
  }
}

async function checkNothingLeft(report: Report): Promise<void> {
  const namespaces = (await listNamespaces()).filter((name) => name.startsWith(`${prefix}-`));
  const processes = commandLines().filter((line) => line.includes(`${directory}/`));
  const loops = loopFiles().filter((file) => file.startsWith(directory));
  const mounts = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .filter((line) => line.includes(directory));
  const left = [...namespaces, ...processes, ...loops, ...mounts];
  report.check('nothing is left behind', left.length === 0, left);
}

function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((pid) => readIfThere(`/proc/${pid}/cmdline`).replaceAll('\0', ' '));
}

function loopFiles(): string[] {
  return readdirSync('/sys/block').map((name) => readIfThere(`/sys/block/${name}/loop/backing_file`).trim());
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
