import { tenantId } from '#rack/line/catalog.ts';
import { allEvents } from '#rack/line/deployment.ts';
import { bootRamdisk } from '../bootRamdisk.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import { withLine } from '../withLine.ts';

/**
 * QEMU has no PXE ROM but iPXE's. By the quirk of its node it gets what any BIOS ROM gets, `undionly.kpxe`, by TFTP: iPXE that runs on
 * the ROM's UNDI, not on a driver of its own.
 */
export const biosUndionly: EndToEndCase = {
  name: 'bios-undionly',
  about: 'a BIOS machine loads undionly.kpxe over TFTP, by a quirk set at the centre, and joins',
  run: (report, options) => {
    const machines = [{ name: 'm1', firmware: 'bios', disks: [{ size: '1G' }] }] as const;
    return withLine(report, options, { machines }, async (line) => {
      const nodeId = line.nodes.get('m1');
      const bootQuirks = { ipxe: ['chain-ipxe'] };
      await line.api.call('nodes', 'setBootQuirks', { tenantId, nodeId, bootQuirks });
      report.phase('boot');
      const workflow = await bootRamdisk(line, 'm1', options.signal);
      const joined = workflow.steps.find(({ use }) => use === 'wait.agentJoined');
      report.check('agent joined', joined?.state === 'succeeded', workflow.error);
      const texts = (await allEvents(line, workflow.workflowId)).flatMap(({ text }) => text ?? []);
      const at = (pattern: RegExp) => texts.findIndex((text) => pattern.test(text));
      const steps = [
        at(/^ACK .*, undionly\.kpxe \(ipxe\)/),
        at(/^undionly\.kpxe complete/),
        at(/^ACK .*boot\.ipxe \(ipxe\)/),
        at(/^ramdisk /),
      ];
      report.check(
        'the ROM loads undionly.kpxe by TFTP, and that the script',
        steps.every((step, index) => step >= 0 && (index === 0 || step > (steps[index - 1] ?? 0))),
        texts,
      );
    });
  },
};
