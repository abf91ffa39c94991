import { setTimeout as delay } from 'node:timers/promises';
import { tenantId } from '#rack/line/catalog.ts';
import { deploy } from '#rack/line/deployment.ts';
import type { Line } from '#rack/line/line.ts';
import { resetMachine } from '#rack/rack.ts';
import { checkDeployed, followToEnd } from '../deploys.ts';
import type { CaseOptions, EndToEndCase } from '../endToEndCase.ts';
import type { Report } from '../report.ts';
import { osRef, withLine } from '../withLine.ts';

const machines = [{ name: 'm1', firmware: 'uefi', disks: [{ size: '8G' }], memoryMiB: 1024 }] as const;

/** What the API says of a node's agent. */
interface NodeRecord {
  agent?: { joinedAt: string; bootId?: string };
  spec?: { generation: number; observedGeneration: number; observedAt?: string };
  alarms: unknown[];
}

export const joinNode: EndToEndCase = {
  name: 'join-node',
  about:
    'a deployed OS downloads bcd, checks its digest, joins with its provisioned token and runs the node agent',
  run: (report, options) =>
    withLine(report, options, { machines, os: { kind: 'host' } }, async (line) => {
      report.phase('deploy with the shipped user data');
      const workflowId = await deploy(line, 'm1', osRef, { template: 'bcd-host.yaml.hbs' });
      const workflow = await followToEnd(line, workflowId, options.signal);
      await checkDeployed(report, line, 'm1', workflow, options.signal);
      const kexec = workflow.steps.find(({ use }) => use === 'boot.kexec');
      report.check('boot.kexec ended by the join', kexec?.state === 'succeeded', kexec);
      if (!report.ok) return;
      await checkAgent(report, line, options);
    }),
};

async function checkAgent(report: Report, line: Line, options: CaseOptions): Promise<void> {
  report.phase('the node agent observes its desired state');
  const observes = ({ spec, agent }: NodeRecord) =>
    (spec?.observedGeneration ?? 0) > 0 && agent?.bootId !== undefined;
  const node = await nodeOnce(line, options.signal, observes);
  report.check('the OS is the node', node.agent?.joinedAt !== undefined, node);
  report.check(
    'what is desired is observed',
    node.spec?.observedGeneration === node.spec?.generation,
    node.spec,
  );
  report.check('nobody was alarmed', node.alarms.length === 0, node.alarms);
  report.phase('restart the OS');
  const { bootId } = node.agent ?? {};
  await resetMachine(line.rack.machine('m1'));
  const again = await nodeOnce(line, options.signal, ({ agent }) => agent?.bootId !== bootId);
  report.check('its agent is back by its certificate, in another boot', again.agent?.bootId !== undefined);
}

async function nodeOnce(
  line: Line,
  signal: AbortSignal,
  isSo: (node: NodeRecord) => boolean,
): Promise<NodeRecord> {
  const nodeId = line.nodes.get('m1');
  const patience = AbortSignal.any([signal, AbortSignal.timeout(120_000)]);
  for (;;) {
    const node = await line.api.call<NodeRecord>('nodes', 'get', { tenantId, nodeId });
    if (isSo(node)) return node;
    patience.throwIfAborted();
    await delay(500);
  }
}
