import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import type { LogMark } from '#contract/bmcLog.ts';
import { IpmiBmc } from '#ipmi/bmc.ts';
import { parseSel, parseSelInfo } from '#ipmi/sel.ts';
import { startIpmiSim } from '../fakes/ipmiSim.ts';

const sim = await startIpmiSim();
const directory = await mkdtemp(path.join(tmpdir(), 'railhead-sel-'));
afterAll(async () => {
  await sim.stop();
  await rm(directory, { recursive: true });
});

const bmc = new IpmiBmc({
  ...sim,
  program: sim.ipmitool,
  ciphers: { find: () => 3, keep: () => {} },
  firmware: () => 'uefi',
  memory: {},
  log: silentLog(),
});

async function ipmitool(...command: string[]): Promise<void> {
  const { hostname, port } = new URL(sim.address);
  const whom = ['-H', hostname, '-p', port, '-U', sim.username, '-P', sim.password];
  await promisify(execFile)(sim.ipmitool, ['-I', 'lanplus', '-C', '3', ...whom, ...command]);
}

async function add(...records: string[]): Promise<void> {
  const file = path.join(directory, 'records');
  await writeFile(file, `${records.join('\n')}\n`);
  await ipmitool('sel', 'add', file);
}

const powerOff = '0x04 0x09 0x01 0x6f 0x00 0xff 0xff';
const uncorrectable = '0x04 0x0c 0x53 0x6f 0x01 0x01 0x05';

test('new entries of a SEL are told once, also after it was cleared, by one command when there are none', async () => {
  let mark: LogMark | undefined;
  const read = async () => {
    const { mark: next, fresh, cleared } = await bmc.readLog(mark);
    mark = next;
    return { fresh: fresh.map(({ sensor, message }) => `${sensor}: ${message}`), cleared };
  };
  await add(powerOff);
  expect(await read()).toEqual({ fresh: [], cleared: false });
  await add(uncorrectable);
  expect(await read()).toEqual({ fresh: ['Memory #0x53: Uncorrectable ECC, Asserted'], cleared: false });
  await sim.reset();
  expect(await read()).toEqual({ fresh: [], cleared: false });
  expect(await sim.commands()).toEqual(['sel info']);
  await add(...Array.from({ length: 80 }, () => powerOff));
  expect((await read()).fresh).toHaveLength(64);
  await ipmitool('sel', 'clear');
  await add(powerOff, powerOff);
  const again = 'Power Unit #0x01: Power off/down (), Asserted';
  expect(await read()).toEqual({ fresh: [again, again], cleared: true });
});

test('a SEL is read as ipmitool prints it; what is no entry is passed over', () => {
  const printed = `SDRR successfully erased
  1a | 11/15/2019 | 18:52:23 | Fan Processor 1 Fan | Lower Non-critical going low  | Asserted
   2 |  Pre-Init  |0000034523| Memory #0x53 | Uncorrectable ECC | Asserted
   3 | 04/02/24 | 10:11:12 UTC | Temperature Inlet | Upper Critical going high | Deasserted
   4 | 04/02/24 | 10:11:12
 zz | no | entry | at | all
   5 | 04/02/24`;
  expect(parseSel(printed)).toEqual([
    {
      id: '1a',
      severity: 'Warning',
      message: 'Lower Non-critical going low, Asserted',
      sensor: 'Fan Processor 1 Fan',
      created: '11/15/2019 18:52:23',
    },
    {
      id: '2',
      message: 'Uncorrectable ECC, Asserted',
      sensor: 'Memory #0x53',
      created: 'Pre-Init 0000034523',
    },
    {
      id: '3',
      severity: 'Critical',
      message: 'Upper Critical going high, Deasserted',
      sensor: 'Temperature Inlet',
      created: '04/02/24 10:11:12 UTC',
    },
    { id: '4', message: 'without a message', created: '04/02/24 10:11:12' },
  ]);
});

test.each([
  ['Entries          : 2\nLast Add Time    : S+ 09:35:23\nLast Del Time    : Not Available', 2, true],
  ['Entries          : 7\nLast Add Time    : Not Available', 7, false],
  ['', undefined, false],
])(
  'of %j it is known how many entries there are, and whether it tells when it was written to',
  (text, count, tells) => {
    const info = parseSelInfo(text);
    expect([info.count, info.state !== undefined]).toEqual([count, tells]);
  },
);
