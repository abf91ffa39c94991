import { randomBytes } from 'node:crypto';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openToolbox, type Toolbox } from '#base/debian/toolbox.ts';
import { userDataTemplate } from '#rack/line/centre.ts';
import type { Line } from '#rack/line/line.ts';
import { startProcess } from '#rack/line/managedProcess.ts';
import { findIn, findInFiles, type Markers } from '../fakes/markers.ts';
import type { Report } from './report.ts';

/** A site under watch: what goes over its wires is captured. */
export interface Watch {
  /** Checks that the site's files, its log and its wires tell no secret. */
  check(report: Report): Promise<void>;
}

/** Debian's tcpdump, unpacked and not installed; before the line is up, whose namespace reaches no archive. */
export function fetchTcpdump(): Promise<Toolbox> {
  return openToolbox(['tcpdump'], {
    cacheDirectory: path.resolve(import.meta.dirname, '../../.cache/debian'),
  });
}

/** Plants a secret in the user data and captures everything that the site sends and receives, on all interfaces. */
export async function watchSecrets(line: Line, tcpdump: Toolbox): Promise<Watch> {
  const planted = `planted-${randomBytes(12).toString('hex')}`;
  const template = path.join(line.books.directory, 'templates', userDataTemplate);
  await appendFile(template, `# ${planted}\n`);
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-capture-'));
  const file = path.join(directory, 'site.pcap');
  const command = tcpdump.command('usr/bin/tcpdump', [
    '-Z',
    'root',
    '-i',
    'any',
    '-s',
    '0',
    '-U',
    '-w',
    file,
  ]);
  const logFile = path.join(directory, 'tcpdump.log');
  const capture = startProcess({
    namespace: line.rack.namespaces.site,
    command: [command[0], ...command[1]],
    logFile,
  });
  while (!(await readFile(logFile, 'utf8')).includes('listening on'))
    await Promise.race([delay(50), capture.died()]);
  return {
    async check(report) {
      await capture.stop();
      const bytes = await readFile(file);
      await rm(directory, { recursive: true });
      checkWires(report, bytes, secretsOf(line, planted));
      checkFiles(report, line, secretsOf(line, planted));
    },
  };
}

function secretsOf({ books, rack }: Line, planted: string): Markers {
  const passwords = rack.machines.map(({ name, bmc }) => [`BMC password of ${name}`, bmc.password] as const);
  const { joinToken, operatorToken } = books;
  return {
    ...Object.fromEntries(passwords),
    'join token': joinToken,
    'operator token': operatorToken,
    'user data': planted,
  };
}

/** What is known to go over the wire in the clear shows that the capture saw it. */
function checkWires(report: Report, capture: Buffer, { 'operator token': _, ...markers }: Markers): void {
  report.check('the capture has the boot script of the machine', capture.includes('railhead.token='));
  const finds = findIn('capture', capture, markers);
  report.check('no secret is on any wire of the site', finds.length === 0, finds);
}

function checkFiles(report: Report, { site }: Line, markers: Markers): void {
  const finds = findInFiles([site.directory], markers);
  report.check('no secret is in the files, databases and log of the site', finds.length === 0, finds);
}
