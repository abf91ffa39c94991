import { tenantId } from '#rack/line/catalog.ts';
import type { Line } from '#rack/line/line.ts';
import { vlanAddress } from '#rack/network.ts';
import { bootRamdisk } from '../bootRamdisk.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import { consoleShows } from '../observe.ts';
import type { Report } from '../report.ts';
import { readWire, type WirePacket } from '../wire.ts';
import { withLine } from '../withLine.ts';

const tag = 42;
const machines = [
  { name: 'm1', firmware: 'uefi', memoryMiB: 512, disks: [{ size: '1G' }], vlans: [tag] },
] as const;

export const vlan: EndToEndCase = {
  name: 'vlan',
  about:
    'a machine on a trunk port gets its first script without a tag, and goes on in the VLAN of its node: iPXE, ramdisk and agent',
  run: (report, options) =>
    withLine(report, options, { machines }, async (line) => {
      const node = { tenantId, nodeId: line.nodes.get('m1') };
      const set = await line.api.call<{ vlan?: number }>('nodes', 'update', { ...node, vlan: tag });
      report.check('the node has its VLAN', set.vlan === tag, set);
      report.phase('boot');
      const workflow = await bootRamdisk(line, 'm1', options.signal);
      report.check('the ramdisk has joined', workflow.state === 'succeeded', workflow.error);
      await consoleShows(line, 'm1', /railhead: this machine boots on VLAN 42/, 1_000, options.signal);
      report.check('the console says that it goes to the VLAN', true);
      checkWire(report, line);
    }),
};

/** Everything after the first script carries the tag, and is with the site's address in that VLAN. */
function checkWire(report: Report, line: Line): void {
  const packets = readWire(line.rack.machine('m1').trunk?.capture ?? '');
  const asked = (what: (packet: WirePacket) => boolean) => packets.filter(what).map((packet) => packet.vlan);
  const only = (found: (number | undefined)[], expected: number | undefined) =>
    found.length > 0 && found.every((each) => each === expected);

  const discovers = asked(({ destinationPort }) => destinationPort === 67);
  const firstTagged = discovers.indexOf(tag);
  report.check(
    'its DHCP is without a tag at first',
    discovers[0] === undefined && firstTagged > 0,
    discovers,
  );
  report.check('and tagged from then on', only(discovers.slice(firstTagged), tag), discovers);
  const loaders = asked(({ destinationPort }) => destinationPort === 69);
  report.check('iPXE came without a tag', only(loaders, undefined), loaders);
  const images = asked(({ payload }) => payload.startsWith('GET /images/'));
  report.check('kernel and initrd came tagged', only(images, tag), images);
  const agent = packets.filter(({ destinationPort }) => destinationPort === 8443);
  const vlans = agent.map((packet) => packet.vlan);
  report.check('the agent speaks tagged', only(vlans, tag), [...new Set(vlans)]);
  const places = [...new Set(agent.map(({ to }) => to))];
  report.check("with the site's address there", places.join() === vlanAddress(tag), places);
}
