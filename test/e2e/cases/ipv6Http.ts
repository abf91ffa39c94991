import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { allEvents } from '#rack/line/deployment.ts';
import type { Line } from '#rack/line/line.ts';
import { addresses } from '#rack/network.ts';
import { bootRamdisk } from '../bootRamdisk.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import { consoleShows } from '../observe.ts';
import type { Report } from '../report.ts';
import { startRouter } from '../router.ts';
import { withLine } from '../withLine.ts';
import { ipv6Alone } from './ipv6.ts';

export const ipv6Http: EndToEndCase = {
  name: 'ipv6-http',
  about: 'over IPv6 alone a UEFI machine without PXE boots by HTTP into the ramdisk, which joins',
  run: (report, options) => {
    const setup = {
      machines: [{ name: 'm1', firmware: 'uefi', bootsOver: 'http', memoryMiB: 512, disks: [] }] as const,
      provisioning: ipv6Alone,
      neighbours: (rack: Line['rack'], directory: string) =>
        startRouter(rack, path.join(directory, 'router')),
    };
    return withLine(report, options, setup, async (line) => {
      report.phase('boot');
      const workflow = await bootRamdisk(line, 'm1', options.signal);
      report.check('the ramdisk has joined', workflow.state === 'succeeded', workflow);
      await checkWay(report, line, workflow.workflowId, options.signal);
    });
  },
};

async function checkWay(report: Report, line: Line, workflowId: string, signal: AbortSignal): Promise<void> {
  const texts = (await allEvents(line, workflowId)).flatMap(({ text }) => text ?? []);
  const some = (pattern: RegExp) => texts.some((text) => pattern.test(text));
  const site = `\\[${addresses.siteIPv6}\\]`;
  const url = new RegExp(`REPLY fd77::.*http://${site}:8080/ipxe/ipxe-amd64\\.efi`);
  report.check('the firmware was told an HTTP URL', some(url), texts);
  report.check('it had iPXE by HTTP', some(/^\/ipxe\/ipxe-amd64\.efi/), texts);
  for (const [what, pattern] of [
    ['the firmware says HTTP Boot over IPv6', /Start HTTP Boot over IPv6/],
    ['iPXE asked for its own script', /at fd77::\S+ asks for its script over IPv6/],
  ] as const) {
    await consoleShows(line, 'm1', pattern, 5_000, signal);
    report.check(what, true);
  }
  const log = await readFile(line.site.logFile, 'utf8');
  report.check('it joined from an IPv6 address', /"peer":"fd77::[^"]*","msg":"machine joined"/.test(log));
}
