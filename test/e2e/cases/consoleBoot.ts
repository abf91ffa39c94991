import { once } from 'node:events';
import { appendFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import path from 'node:path';
import { tenantId } from '#rack/line/catalog.ts';
import { enrolled } from '#rack/line/deployment.ts';
import type { Line } from '#rack/line/line.ts';
import { commandIn } from '#rack/netns.ts';
import { addresses } from '#rack/network.ts';
import type { MachineRecord } from '#rack/record.ts';
import { startIpmiSim } from '../../fakes/ipmiSim.ts';
import { bootRamdisk } from '../bootRamdisk.ts';
import type { CaseOptions, EndToEndCase } from '../endToEndCase.ts';
import type { Report } from '../report.ts';
import { withLine } from '../withLine.ts';

const machines = [{ name: 'm1', firmware: 'uefi', memoryMiB: 512, disks: [{ size: '1G' }] }] as const;

export const consoleBoot: EndToEndCase = {
  name: 'console-boot',
  about:
    'a QEMU machine boots its ramdisk while its serial port is recorded by IPMI: firmware, iPXE, kernel and ramdisk are in its timeline',
  run: (report, options) =>
    withLine(report, options, { machines }, (line) => recordBoot(report, line, options)),
};

async function recordBoot(report: Report, line: Line, { signal }: CaseOptions): Promise<void> {
  const machine = line.rack.machine('m1');
  const { host, password } = machine.bmc;
  const serial = await serialLine(machine);
  const within = (command: readonly string[]) => commandIn(line.rack.namespaces.mgmt, command);
  // The rack's BMC tells of no console by SSH: it is joined by IPMI at the same host, as the same user.
  const sim = await startIpmiSim({
    ...{ password, host, port: 623, within },
    ...{ serialHost: addresses.mgmtGateway, serialPort: serial.port },
  });
  try {
    await line.site.stop();
    await appendFile(
      path.join(line.site.directory, 'config.toml'),
      `\n[bmc]\nipmitool = "${sim.ipmitool}"\n`,
    );
    await line.site.start();
    const nodeId = line.nodes.get('m1') as string;
    await enrolled(line, nodeId);

    report.phase('boot');
    await line.api.call('nodes', 'recordConsole', { tenantId, nodeId, for: '10m' });
    const workflow = await bootRamdisk(line, 'm1', signal);
    report.check('it boots its ramdisk meanwhile', workflow.state === 'succeeded', workflow);
    await line.api.call('nodes', 'endConsole', { tenantId, nodeId });
    await checkPrinted(report, await printed(line, nodeId));
  } finally {
    await sim.stop();
    serial.close();
  }
}

function checkPrinted(report: Report, text: string): void {
  const wanted = {
    firmware: /BdsDxe|UEFI PXEv4|Start PXE/,
    iPXE: /iPXE/,
    kernel: /secureboot: Secure boot/,
    ramdisk: /RAILHEAD-AGENT/,
  };
  for (const [whose, words] of Object.entries(wanted))
    report.check(`the timeline has what the ${whose} printed`, words.test(text), text.slice(-3000));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none is to be left
  report.check('as plain text', !/[\x00-\x09\x0b-\x1f\x7f]/.test(text));
}

/** Everything that was recorded, once the recording has ended. */
async function printed(line: Line, nodeId: string): Promise<string> {
  const lines: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await line.api.call<{ items: { type: string; text: string }[]; cursor: string }>(
      'nodes',
      'events',
      { tenantId, nodeId, limit: 200, waitSeconds: 10, ...(cursor !== undefined && { cursor }) },
    );
    for (const { type, text } of page.items) if (type === 'console.output') lines.push(text);
    if (page.items.length === 0 || page.items.some(({ type }) => type === 'console.ended')) break;
    cursor = page.cursor;
  }
  return lines.join('\n');
}

/** The machine's serial port as a TCP port, which the management network reaches. */
async function serialLine({ consoleSocket }: MachineRecord): Promise<{ port: number; close(): void }> {
  const server = createServer((line) => {
    const port = connect(consoleSocket);
    for (const end of [line, port]) end.on('error', () => {});
    line.pipe(port).pipe(line);
  }).listen(0, addresses.mgmtGateway);
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}
