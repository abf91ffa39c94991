import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { allEvents } from '#rack/line/deployment.ts';
import type { Line } from '#rack/line/line.ts';
import { bootRamdisk } from '../bootRamdisk.ts';
import { dnsmasqBeside, startDnsmasq } from '../dnsmasq.ts';
import type { CaseOptions, EndToEndCase } from '../endToEndCase.ts';
import type { Report } from '../report.ts';
import { withLine } from '../withLine.ts';

const uefi = { name: 'm1', firmware: 'uefi', disks: [{ size: '1G' }] } as const;
/** Its ROM is iPXE, which asks a second time before it has its script. */
const bios = { name: 'm2', firmware: 'bios', disks: [{ size: '1G' }] } as const;

export const proxy: EndToEndCase = {
  name: 'proxy',
  about:
    'dnsmasq on the same network gives the addresses, the site says what to boot: a UEFI and a BIOS machine join',
  run: (report, options) => {
    const setup = {
      machines: [uefi, bios],
      provisioning: { mode: 'proxy' },
      neighbours: (rack: Line['rack'], directory: string) =>
        dnsmasqBeside(rack, path.join(directory, 'dnsmasq')),
    };
    return withLine(report, options, setup, async (line) => {
      const [m1, m2] = await bootBoth(report, line, options);
      report.check(
        'the offer beside dnsmasq’s has no address',
        said(m1, /^OFFER without an address, snponly\.efi/),
        m1,
      );
      report.check('UEFI asked port 4011', said(m1, /^ACK from port 4011, snponly\.efi \(uefi-pxe\)/), m1);
      report.check(
        'iPXE took the script at once',
        said(m2, /^OFFER without an address, http.*boot\.ipxe/),
        m2,
      );
      report.check('and did not ask port 4011', !said(m2, /port 4011/), m2);
      await checkLease(report, line);
    });
  },
};

export const only4011: EndToEndCase = {
  name: '4011-only',
  about:
    'dnsmasq on the same host has port 67 and names PXEClient, the site answers port 4011: a UEFI and a BIOS machine join',
  run: (report, options) => {
    const setup = {
      machines: [uefi, bios],
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
      const [m1, m2] = await bootBoth(report, line, options);
      report.check('no offer is the site’s', !said([...m1, ...m2], /^OFFER/), [m1, m2]);
      report.check('UEFI asked port 4011', said(m1, /^ACK from port 4011, snponly\.efi \(uefi-pxe\)/), m1);
      report.check('iPXE asked port 4011', said(m2, /^ACK from port 4011, http.*boot\.ipxe \(ipxe\)/), m2);
      await checkLease(report, line);
    });
  },
};

/** Boots the ramdisk of both machines to their join; the texts of each one's timeline. */
async function bootBoth(
  report: Report,
  line: Line,
  { signal }: CaseOptions,
): Promise<[m1: string[], m2: string[]]> {
  report.phase('boot');
  const boot = async (machine: string) => {
    const workflow = await bootRamdisk(line, machine, signal);
    const joined = workflow.steps.find(({ use }) => use === 'wait.agentJoined');
    report.check(`agent joined on ${machine}`, joined?.state === 'succeeded', workflow.error);
    return (await allEvents(line, workflow.workflowId)).flatMap(({ text }) => text ?? []);
  };
  return Promise.all([boot('m1'), boot('m2')]);
}

function said(events: readonly string[], pattern: RegExp): boolean {
  return events.some((text) => pattern.test(text));
}

/** The addresses are dnsmasq's, and never once was one refused. */
async function checkLease(report: Report, line: Line): Promise<void> {
  const log = await readFile(path.join(line.site.directory, '../dnsmasq/dnsmasq.log'), 'utf8');
  for (const { name, mac } of line.rack.machines)
    report.check(
      `dnsmasq gave ${name} its address`,
      new RegExp(`DHCPACK\\(\\S+\\) 10\\.77\\.0\\.2\\d\\d ${mac}`).test(log),
    );
  report.check('nobody refused anything', !/DHCPNAK/.test(log));
}
