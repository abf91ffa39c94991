import type { OobInventory } from '#contract/oobInventory.ts';
import { chassisStatus } from './chassis.ts';
import type { IpmiClient } from './client.ts';
import { parseController, parseGuid } from './controller.ts';
import { machineFru, parseFrus } from './fru.ts';
import { healthOf, parseSensors, sensorsOf } from './sensors.ts';

/** Old BMCs read hundreds of sensor records one by one. */
const tableMs = 150_000;

/**
 * What a BMC tells by IPMI of its machine: maker, model and serial (FRU), sensors (SDR), health and power (chassis). IPMI knows nothing of
 * CPUs, memory, NICs and disks: `notes` says so.
 * @throws RailheadError as the client, when not even the chassis answers
 */
export async function inspect(client: IpmiClient, signal?: AbortSignal): Promise<OobInventory> {
  const { power, faults } = await chassisStatus(client, signal);
  const notes = ['IPMI tells nothing of CPUs, memory, NICs and disks: inspect the machine by its ramdisk'];
  const told = async (command: string[]): Promise<string> => {
    const { stdout, failure } = await client.attempt(command, {
      repeatable: true,
      timeoutMs: tableMs,
      signal,
    });
    if (failure !== undefined && stdout.trim() === '') notes.push(`${command.join(' ')}: ${failure.words}`);
    return stdout;
  };
  const controller = parseController(await client.raw([0x06, 0x01], { repeatable: true, signal }));
  const uuid = parseGuid(await told(['mc', 'guid']));
  const fru = machineFru(parseFrus(await told(['fru', 'print'])));
  const sensors = parseSensors(await told(['-c', 'sdr', 'list', 'full']));
  if (faults.length > 0) notes.push(`the chassis reports: ${faults.join(', ')}`);
  return {
    system: {
      ...fru,
      ...(uuid !== undefined && { uuid }),
      power,
      health: healthOf(faults, sensors),
      tpms: [],
    },
    bmc: controller,
    cpus: [],
    memory: [],
    nics: [],
    disks: [],
    gpus: [],
    firmware: [],
    sensors: sensorsOf(sensors),
    notes,
  };
}
