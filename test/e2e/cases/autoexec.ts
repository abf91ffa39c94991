import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Line } from '#rack/line/line.ts';
import { bootRamdisk } from '../bootRamdisk.ts';
import { dnsmasqBeside } from '../dnsmasq.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import { addLanHost } from '../lanHost.ts';
import { consoleShows } from '../observe.ts';
import type { Report } from '../report.ts';
import { withLine } from '../withLine.ts';

const machines = [{ name: 'm1', firmware: 'uefi', memoryMiB: 512, disks: [{ size: '1G' }] }] as const;

/** It answers iPXE alone, as a server does whose operator boots something else by iPXE, with a boot file that leads nowhere. */
const forIpxeAlone = [
  'dhcp-userclass=set:ipxe,iPXE',
  'dhcp-ignore=tag:!ipxe',
  'dhcp-boot=tag:ipxe,somebody-elses.ipxe,,10.77.0.2',
];

export const autoexec: EndToEndCase = {
  name: 'autoexec',
  about:
    "where another server answers iPXE's DHCP with a boot file of its own, a UEFI machine boots by autoexec.ipxe all the same",
  run: (report, options) => {
    const neighbours = (rack: Line['rack'], directory: string) =>
      dnsmasqBeside(rack, path.join(directory, 'dnsmasq'), forIpxeAlone);
    return withLine(report, options, { machines, neighbours }, async (line) => {
      await checkForeign(report, line);
      report.phase('boot');
      const { state, error } = await bootRamdisk(line, 'm1', options.signal);
      report.check('agent joined', state === 'succeeded', error);
      await consoleShows(line, 'm1', /autoexec\.ipxe\.\.\. ok/, 1_000, options.signal);
      report.check('iPXE took the script beside its binary', true);
      const { mac } = line.rack.machine('m1');
      const log = await foreignLog(line);
      report.check('the other server heard the machine', log.includes(`${mac} ignored`), log);
      report.check('and had nothing to answer', !offers(log, mac), log);
    });
  },
};

/** A host that says it is iPXE gets an offer of the other server: a machine that asked so would, too. */
async function checkForeign(report: Report, line: Line): Promise<void> {
  report.phase('the other server');
  const mac = '52:54:00:77:66:77';
  const host = await addLanHost(line, {
    name: 'rom',
    mac,
    directory: line.books.directory,
    userClass: 'iPXE',
  });
  await host.remove();
  const log = await foreignLog(line);
  report.check('the other server answers an iPXE', offers(log, mac), log);
}

function offers(log: string, mac: string): boolean {
  return log.split('\n').some((each) => each.includes('DHCPOFFER(') && each.includes(mac));
}

function foreignLog(line: Line): Promise<string> {
  return readFile(path.join(line.site.directory, '../dnsmasq/dnsmasq.log'), 'utf8');
}
