import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { openLog } from '#base/log.ts';
import { type Closable, closeAll, stopSignal } from '#base/shutdown.ts';
import { FaultSwitches } from '../bmc/faultSwitches.ts';
import { openBmc } from '../bmc/server.ts';
import { recordProcess } from '../processRecord.ts';
import { readRackRecord } from '../record.ts';
import { openTrunkPort } from '../trunk/trunkPort.ts';
import { BatteryClock } from './batteryClock.ts';
import type { BootOverride } from './bootOverride.ts';
import { qemuArguments, qemuProgram } from './commandLine.ts';
import { MachineConsole } from './console.ts';
import { openControl } from './control.ts';
import { VirtualMachine } from './machine.ts';
import { startQemu } from './qemuRun.ts';

/**
 * The supervisor of one machine: `node rack/machine/main.ts DIRECTORY NAME`, started inside the management namespace.
 * It owns the machine's QEMU, console and BMC, and tells its parent by an IPC message when all of them are there.
 */
const [directory = '', name = ''] = process.argv.slice(2);
const log = openLog(`rack-${name}`);
const started: Closable[] = [];
try {
  const rack = await readRackRecord(directory);
  const record = rack?.machines.find((machine) => machine.name === name);
  if (rack === undefined || record === undefined) throw new Error(`no machine ${name} in ${directory}`);
  await recordProcess(record.directory);

  const console = await MachineConsole.open(record.consoleLog, record.consoleSocket);
  started.push(console);
  const { trunk, tap } = record;
  if (trunk !== undefined) started.push(await openTrunkPort(trunk, tap, rack.namespaces.site, log));
  const clock = new BatteryClock(record.rtcOffsetSeconds);
  const start = async (override: BootOverride) => {
    const { command = [qemuProgram] } = record.emulator ?? {};
    const args = [...qemuArguments(record, override), ...clock.arguments(Date.now())];
    const run = await startQemu(rack.namespaces.site, [...command, ...args]);
    clock.follow(run.qmp);
    return run;
  };
  const machine = new VirtualMachine(start, console, log);
  const faults = new FaultSwitches(record.faults);
  // Before the machine, so that it closes after it: who waits for the supervisor's end holds a connection to it.
  started.push(await openControl(record.controlSocket, machine, faults));
  started.push(machine);
  const tls = { key: await pem('bmc.key'), cert: await pem('bmc.crt') };
  started.push(await openBmc({ machine, record, faults, tls, log }));
  process.send?.('ready');
  log.info({ bmc: record.bmc.address }, 'supervisor ready');

  const signal = await stopSignal();
  log.info({ signal }, 'supervisor stops');

  function pem(file: string): Promise<string> {
    return readFile(path.join(record?.directory ?? '', file), 'utf8');
  }
} catch (error) {
  log.error({ err: error }, 'supervisor failed');
  process.exitCode = 1;
} finally {
  await closeAll(started);
}
process.exit();
