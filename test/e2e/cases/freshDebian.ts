import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { run } from '#base/command.ts';
import { download, unpack } from '#base/debian.ts';
import type { CaseOptions, EndToEndCase } from '../endToEndCase.ts';
import { prepareRoot, runInRoot } from '../freshRoot.ts';
import type { Report } from '../report.ts';

const project = path.resolve(import.meta.dirname, '../../..');
const cacheDirectory = path.join(project, '.cache');

/** What a newcomer's machine has, and nothing else. */
const newcomersPackages = ['ca-certificates', 'git', 'nodejs', 'npm'];

export const freshDebian: EndToEndCase = {
  name: 'fresh-debian',
  about: 'both README commands in a Debian 13 that has root, git and npm, and nothing else (15 minutes)',
  async run(report, options) {
    report.phase('debootstrap');
    const base = await debianBase();
    const work = await mkdtemp(path.join(cacheDirectory, 'fresh-'));
    try {
      const root = await prepareRoot(base, work, project);
      await readmeCommands(report, root, options);
    } finally {
      if (!options.keep) await rm(work, { recursive: true, force: true });
    }
  },
};

async function readmeCommands(report: Report, root: string, options: CaseOptions): Promise<void> {
  report.phase('newcomer installs npm');
  const install = `apt-get -q update && apt-get -q -y --no-install-recommends install ${newcomersPackages.join(' ')}`;
  report.check('git and npm installed', (await runInRoot(root, install, options.signal)) === 0);
  report.check(
    'cloned',
    (await runInRoot(root, 'git clone -q /source /root/railhead', options.signal)) === 0,
  );
  for (const command of ['npm test', 'npm run demo']) {
    report.phase(command);
    report.check(command, (await runInRoot(root, `cd /root/railhead && ${command}`, options.signal)) === 0);
  }
  report.phase('the set-up again, nothing missing');
  const again = await runInRoot(root, 'cd /root/railhead && npm run e2e -- --list', options.signal);
  report.check('the set-up runs again', again === 0);
  report.endPhase();
  const { 'the set-up again, nothing missing': seconds = Number.POSITIVE_INFINITY } = report.seconds;
  report.check('it takes seconds when nothing is missing', seconds < 15, seconds);
}

/** A minimal trixie, made once and kept. debootstrap itself is only unpacked: a host need not have it. */
async function debianBase(): Promise<string> {
  const base = path.join(cacheDirectory, 'fresh-debian', 'trixie');
  const [debootstrap] = await download({
    cacheDirectory: path.join(cacheDirectory, 'debian'),
    packages: ['debootstrap'],
  });
  const tool = path.join(cacheDirectory, 'fresh-debian', 'debootstrap');
  await unpack((debootstrap as { file: string }).file, tool);
  await run('sh', [path.join(import.meta.dirname, '../debootstrapOnce.sh'), tool, base], {
    timeoutMs: 15 * 60_000,
  });
  return base;
}
