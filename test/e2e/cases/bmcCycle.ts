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
      report.phase('two network boots');
      await networkBoots(report, line, options.signal);
      report.phase('as each vendor');
      for (const shape of shapes) {
        options.signal.throwIfAborted();
        await cycle(report, line, shape, [shape]);
      }
      report.phase('flaky');
      await cycle(report, line, 'flaky', ['flaky']);
    }),
};

/** What the firmware does is seen on its console: once after power on, and once more after a cycle. */
async function networkBoots(report: Report, line: Line, signal: AbortSignal): Promise<void> {
  const machine = line.rack.machine('m1');
  const { address, username, password } = machine.bmc;
  const bmc = openBmc({ address, username, password, log: silentLog() });
  try {
    let from = 0;
    for (const action of ['on', 'cycle'] as const) {
      await bmc.setBootDevice({ device: 'pxe', persistent: false });
      await bmc.setPower(action);
      const booting = await waitForConsole(machine, /PXE/, { timeoutMs: 90_000, signal, from });
      from = booting.end;
      report.check(`after ${action} the firmware boots over the network`, true);
    }
  } finally {
    await bmc.close();
  }
}

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
