import { tenantId } from '#rack/line/catalog.ts';
import type { Line } from '#rack/line/line.ts';
import { vlanAddress } from '#rack/network.ts';
import { bootRamdisk } from '../bootRamdisk.ts';
import type { CaseOptions, EndToEndCase } from '../endToEndCase.ts';
import { consoleShows } from '../observe.ts';
import type { Report } from '../report.ts';
import { readWire, type WirePacket } from '../wire.ts';
import { withLine } from '../withLine.ts';

const tag = 42;
const common = { memoryMiB: 512, disks: [{ size: '1G' }], vlans: [tag] } as const;
const machines = [
  { name: 'uefi', firmware: 'uefi', ...common },
  // Debian 12's ROM knows no VLANs: it has to load the site's iPXE first.
  { name: 'rom', firmware: 'bios', hostRom: true, ...common },
] as const;

export const vlan: EndToEndCase = {
  name: 'vlan',
  about:
    'machines on trunk ports get their first script without a tag, and go on in the VLAN of their node: iPXE, ramdisk and agent',
  run: (report, options) =>
    withLine(report, options, { machines }, async (line) => {
      for (const { name } of machines) await bootsInVlan(report, line, name, options);
    }),
};

async function bootsInVlan(
  report: Report,
  line: Line,
  machine: string,
  { signal }: CaseOptions,
): Promise<void> {
  report.phase(machine);
  const node = { tenantId, nodeId: line.nodes.get(machine) };
  const set = await line.api.call<{ vlan?: number }>('nodes', 'update', { ...node, vlan: tag });
  report.check(`${machine}: the node has its VLAN`, set.vlan === tag, set);
  const workflow = await bootRamdisk(line, machine, signal);
  report.check(`${machine}: agent joined`, workflow.state === 'succeeded', workflow.error);
  await consoleShows(line, machine, /railhead: this machine boots on VLAN 42/, 1_000, signal);
  report.check(`${machine}: the console says that it goes to the VLAN`, true);
  for (const [what, found, expected] of wireFacts(readWire(line.rack.machine(machine).trunk?.capture ?? '')))
    report.check(`${machine}: ${what}`, found.length > 0 && found.every((each) => each === expected), found);
}

type Fact = [
  what: string,
  found: readonly (string | number | undefined)[],
  expected: string | number | undefined,
];

/** Everything after the first script carries the tag, and is with the site's address in that VLAN. */
function wireFacts(packets: readonly WirePacket[]): Fact[] {
  const vlansOf = (what: (packet: WirePacket) => boolean) =>
    packets.filter(what).map((packet) => packet.vlan);
  const discovers = vlansOf(({ destinationPort }) => destinationPort === 67);
  const firstTagged = discovers.indexOf(tag);
  const agent = packets.filter(({ destinationPort }) => destinationPort === 8443);
  return [
    ['its DHCP is without a tag at first', discovers.slice(0, firstTagged), undefined],
    ['and tagged from then on', discovers.slice(firstTagged), tag],
    ['iPXE came without a tag', vlansOf(bringsIpxe), undefined],
    ['kernel and initrd came tagged', vlansOf(({ payload }) => payload.startsWith('GET /images/')), tag],
    ['the agent speaks tagged', [...new Set(agent.map((packet) => packet.vlan))], tag],
    ["with the site's address there", [...new Set(agent.map(({ to }) => to))], vlanAddress(tag)],
  ];
}

/** Firmware by TFTP, an old iPXE by HTTP; a ROM that knows VLANs needs none, and asks for the first script. */
function bringsIpxe({ destinationPort, payload, vlan: tagged }: WirePacket): boolean {
  if (destinationPort === 69 || payload.startsWith('GET /ipxe/')) return true;
  return payload.startsWith('GET /boot.ipxe') && tagged === undefined;
}
