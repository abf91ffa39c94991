import type { Inventory } from '#contract/inventory.ts';
import { tenantId } from '#rack/line/catalog.ts';
import { enrolled, followWorkflow, type Workflow } from '#rack/line/deployment.ts';
import type { Line } from '#rack/line/line.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import type { Report } from '../report.ts';
import { withLine } from '../withLine.ts';

const machines = [{ name: 'm1', firmware: 'uefi', disks: [{ size: '8G' }] }] as const;

interface NodeRecord {
  state: string;
  macs: string[];
  inventory?: Inventory;
}

/** No OS is deployed: what is shown is what happens to a machine before. */
export const lifecycle: EndToEndCase = {
  name: 'lifecycle',
  about:
    'a machine is enrolled by its BMC, inspected and commissioned by its ramdisk, and ready once its wipe is attested',
  run: (report, options) =>
    withLine(report, options, { machines }, async (line) => {
      const nodeId = line.nodes.get('m1') ?? '';
      await enrolled(line, nodeId);
      report.check(
        'it is enrolled once its BMC has told which machine it is',
        (await record(line, nodeId)).state === 'enrolled',
      );
      await checkInspected(report, line, nodeId, options.signal);
      if (report.ok) await checkCommissioned(report, line, nodeId, options.signal);
    }),
};

async function checkInspected(
  report: Report,
  line: Line,
  nodeId: string,
  signal: AbortSignal,
): Promise<void> {
  report.phase('inspect');
  const workflow = await runMetal(line, 'inspect', nodeId, signal);
  report.check('the inspection succeeded', workflow.state === 'succeeded', workflow.error);
  const { macs, inventory } = await record(line, nodeId);
  const found = inventory?.nics.map(({ mac }) => mac) ?? [];
  report.check(
    'its NIC has the enrolled address',
    macs.every((mac) => found.includes(mac)),
    found,
  );
  report.check(
    'it has one disk of 8 GiB and no GPU',
    inventory?.disks[0]?.sizeBytes === 8 * 2 ** 30 && inventory.gpus.length === 0,
    inventory?.disks,
  );
}

async function checkCommissioned(
  report: Report,
  line: Line,
  nodeId: string,
  signal: AbortSignal,
): Promise<void> {
  report.phase('commission');
  const { state, error, steps } = await runMetal(line, 'commission', nodeId, signal);
  report.check('the commissioning succeeded', state === 'succeeded', error);
  const diagnosis = steps.find(({ use }) => use === 'diag.dcgm')?.result;
  report.check('the machine signs that it has no GPU to test', diagnosis?.gpus === 0, diagnosis);
  const wipe = steps.find(({ use }) => use === 'disk.wipe')?.result;
  report.check('the machine attests that its disk reads back wiped', wipe?.attested === true, wipe);
  report.check('it is ready', (await record(line, nodeId)).state === 'ready');
}

async function runMetal(
  line: Line,
  method: 'inspect' | 'commission',
  nodeId: string,
  signal: AbortSignal,
): Promise<Workflow> {
  const { workflowId } = await line.api.call<{ workflowId: string }>('metal', method, { tenantId, nodeId });
  return followWorkflow(line, workflowId, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(patience)]),
  });
}

const patience = 4 * 60_000;

function record(line: Line, nodeId: string): Promise<NodeRecord> {
  return line.api.call('nodes', 'get', { tenantId, nodeId });
}
