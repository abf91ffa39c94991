import { silentLog } from '#base/log.ts';
import type { Fault } from '#rack/bmc/faultSwitches.ts';
import { machineFaults, machineStatus } from '#rack/control.ts';
import type { Line } from '#rack/line/line.ts';
import { waitForConsole } from '#rack/waitForConsole.ts';
import { openBmc } from '#redfish/bmc.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import type { Report } from '../report.ts';
import { withLine } from '../withLine.ts';

const machines = [{ name: 'm1', firmware: 'uefi', memoryMiB: 512, disks: [{ size: '1G' }] }] as const;
const shapes = [
  'as-dell',
  'as-ilo',
  'as-ilo4',
  'as-supermicro',
  'as-lenovo',
  'as-fujitsu',
  'as-openbmc',
  'as-ami',
  'as-nvidia',
] as const;

export const bmcCycle: EndToEndCase = {
  name: 'bmc-cycle',
  about:
    'a QEMU machine is switched, cycled and told what to boot through its BMC, which speaks as each vendor’s does, and as one that is flaky',
  run: (report, options) =>
    withLine(report, options, { machines }, async (line) => {
      report.phase('network boot, cycle, off');
      await cycle(report, line, 'plain', []);
      const { signal } = options;
      await waitForConsole(line.rack.machine('m1'), /Start PXE over IPv4|PXE/, { timeoutMs: 60_000, signal });
      report.check('the firmware tried the network', true);
      report.phase('as each vendor');
      for (const shape of shapes) {
        signal.throwIfAborted();
        await cycle(report, line, shape, [shape]);
      }
      report.phase('flaky');
      await cycle(report, line, 'flaky', ['flaky']);
    }),
};

/** From off to on by the network, a power cycle, and off again, each seen at the machine itself. */
async function cycle(report: Report, line: Line, name: string, faults: readonly Fault[]): Promise<void> {
  const machine = line.rack.machine('m1');
  const { address, username, password } = machine.bmc;
  await machineFaults(machine, faults);
  const bmc = openBmc({ address, username, password, log: silentLog() });
  try {
    await bmc.setPower('off');
    await bmc.setBootDevice({ device: 'pxe', persistent: false });
    const armed = (await machineStatus(machine)).bootOverride;
    report.check(
      `${name}: the boot device is kept`,
      armed.target === 'Pxe' && armed.enabled === 'Once',
      armed,
    );
    await bmc.setPower('on');
    const used = await machineStatus(machine);
    report.check(
      `${name}: it is on, and the boot device is used up`,
      used.powerState === 'On' && used.bootOverride.enabled === 'Disabled',
      used,
    );
    report.check(
      `${name}: it is cycled`,
      (await bmc.setPower('cycle')) === 'on' && (await machineStatus(machine)).powerState === 'On',
    );
    await bmc.setPower('off');
    report.check(`${name}: it is off`, (await machineStatus(machine)).powerState === 'Off');
  } finally {
    await machineFaults(machine, []);
    await bmc.close();
  }
}
