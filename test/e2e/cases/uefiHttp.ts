import path from 'node:path';
import { run } from '#base/command.ts';
import { allEvents } from '#rack/line/deployment.ts';
import type { Line } from '#rack/line/line.ts';
import { enrolHttpsCas } from '#rack/machine/httpsCas.ts';
import { bootRamdisk } from '../bootRamdisk.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import { consoleShows } from '../observe.ts';
import type { Report } from '../report.ts';
import { withLine } from '../withLine.ts';

export const uefiHttp = bootsBy('http', {
  name: 'uefi-http',
  about: 'a UEFI machine without PXE boots by HTTP into the ramdisk, which joins',
});

export const uefiHttps = bootsBy('https', {
  name: 'uefi-https',
  about: 'a UEFI machine that trusts the CA of the site boots by HTTPS into the ramdisk, which joins',
});

function bootsBy(scheme: 'http' | 'https', named: { name: string; about: string }): EndToEndCase {
  const machines = [{ name: 'm1', firmware: 'uefi', bootsOver: scheme, memoryMiB: 512, disks: [] }] as const;
  const boot = scheme === 'http' ? {} : { httpsPort: 8444, offerHttps: true };
  return {
    ...named,
    run: (report, options) =>
      withLine(report, options, { machines, boot }, async (line) => {
        if (scheme === 'https') await enrolCa(line);
        report.phase('boot');
        const workflow = await bootRamdisk(line, 'm1', options.signal);
        report.check('the ramdisk has joined', workflow.state === 'succeeded', workflow);
        await checkWay(report, line, workflow.workflowId, options.signal);
        if (scheme === 'https') await checkHttps(report, line, options.signal);
      }),
  };
}

/** What `bcd site boot-ca` prints goes into the firmware. */
async function enrolCa({ site, artifacts, rack }: Line): Promise<void> {
  const config = path.join(site.directory, 'config.toml');
  await enrolHttpsCas(rack.machine('m1'), [
    await run(artifacts.bcd, ['site', 'boot-ca', '--config', config]),
  ]);
}

async function checkHttps(report: Report, line: Line, signal: AbortSignal): Promise<void> {
  const { match } = await consoleShows(line, 'm1', /URI: (https:\S+)/, 5_000, signal);
  report.check('the firmware loaded by https', /^https:/.test(match[1] ?? ''), match[1]);
}

async function checkWay(report: Report, line: Line, workflowId: string, signal: AbortSignal): Promise<void> {
  await consoleShows(line, 'm1', /Start HTTP Boot over IPv4/, 5_000, signal);
  report.check('the firmware booted by HTTP', true);
  const boots = (await allEvents(line, workflowId)).filter(({ type }) => type.startsWith('boot.'));
  const has = (type: string, text: RegExp) => boots.some((one) => one.type === type && text.test(one.text));
  report.check('DHCP named the URL to an HTTP client', has('boot.dhcp', /uefi-http/), boots);
  report.check('iPXE came by HTTP', has('boot.http', /ipxe-amd64\.efi/), boots);
  report.check('nothing came by TFTP', !boots.some(({ type }) => type === 'boot.tftp'), boots);
  report.check('iPXE got its script', has('boot.script', /ramdisk/), boots);
}
