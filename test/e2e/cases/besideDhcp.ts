import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { allEvents, type Workflow } from '#rack/line/deployment.ts';
import type { Line } from '#rack/line/line.ts';
import { bootRamdisk } from '../bootRamdisk.ts';
import { dnsmasqBeside, startDnsmasq } from '../dnsmasq.ts';
import type { CaseOptions, EndToEndCase } from '../endToEndCase.ts';
import type { Report } from '../report.ts';
import { withLine } from '../withLine.ts';

const uefi = { name: 'm1', firmware: 'uefi', disks: [{ size: '1G' }] } as const;

export const proxy: EndToEndCase = {
  name: 'proxy',
  about: 'dnsmasq on the same network gives the addresses, the site says what to boot: a UEFI machine joins',
  run: (report, options) => {
    const setup = {
      machines: [uefi],
      provisioning: { mode: 'proxy' },
      neighbours: (rack: Line['rack'], directory: string) =>
        dnsmasqBeside(rack, path.join(directory, 'dnsmasq')),
    };
    return withLine(report, options, setup, async (line) => {
      const events = await boot(report, line, options);
      report.check(
        'the offer beside dnsmasq’s has no address',
        said(events, /^OFFER without an address, snponly\.efi/),
      );
      report.check('UEFI asked port 4011', said(events, /^ACK from port 4011, snponly\.efi \(uefi-pxe\)/));
      report.check('iPXE took the script at once', !said(events, /port 4011.*\(ipxe\)/));
      await checkLease(report, line);
    });
  },
};

export const only4011: EndToEndCase = {
  name: '4011-only',
  about:
    'dnsmasq on the same host has port 67 and names PXEClient, the site answers port 4011: a UEFI machine joins',
  run: (report, options) => {
    const setup = {
      machines: [uefi],
      provisioning: { mode: '4011-only' },
      neighbours: (rack: Line['rack'], directory: string) =>
        startDnsmasq({
          namespace: rack.namespaces.site,
          interfaceName: 'prov',
          directory: path.join(directory, 'dnsmasq'),
          lines: ['dhcp-option=60,PXEClient'],
        }),
    };
    return withLine(report, options, setup, async (line) => {
      const events = await boot(report, line, options);
      report.check('no offer is the site’s', !said(events, /^OFFER/), events);
      report.check('UEFI asked port 4011', said(events, /^ACK from port 4011, snponly\.efi \(uefi-pxe\)/));
      report.check('iPXE asked port 4011', said(events, /^ACK from port 4011, http.*boot\.ipxe \(ipxe\)/));
      await checkLease(report, line);
    });
  },
};

/** Boots the ramdisk to its join; the texts of the machine's timeline. */
async function boot(report: Report, line: Line, { signal }: CaseOptions): Promise<string[]> {
  report.phase('boot');
  const workflow = await bootRamdisk(line, 'm1', signal);
  checkJoined(report, workflow);
  const events = await allEvents(line, workflow.workflowId);
  return events.flatMap(({ text }) => (text === undefined ? [] : [text]));
}

function checkJoined(report: Report, workflow: Workflow): void {
  const joined = workflow.steps.find(({ use }) => use === 'wait.agentJoined');
  report.check('agent joined', joined?.state === 'succeeded', workflow.error);
}

function said(events: readonly string[], pattern: RegExp): boolean {
  return events.some((text) => pattern.test(text));
}

/** The address is dnsmasq's, and never once was it refused. */
async function checkLease(report: Report, line: Line): Promise<void> {
  const log = await readFile(path.join(line.site.directory, '../dnsmasq/dnsmasq.log'), 'utf8');
  const { mac } = line.rack.machine('m1');
  report.check(
    'dnsmasq gave the address',
    new RegExp(`DHCPACK\\(\\S+\\) 10\\.77\\.0\\.2\\d\\d ${mac}`).test(log),
  );
  report.check('nobody refused anything', !/DHCPNAK/.test(log));
}
