import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from '#base/command.ts';
import { silentLog } from '#base/log.ts';
import { hasCode, type RailheadError } from '#contract/errors.ts';
import { loopbackCertificate, type SimulatedBmc, startSimulatedBmc } from '#rack/bmc/simulatedBmc.ts';
import { type Bmc, openBmc } from '#redfish/bmc.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import type { Report } from '../report.ts';
import { startEmulator, system } from '../sushy/emulator.ts';
import { type ForeignRedfish, foreignRedfish } from '../sushy/python.ts';

const user = { username: 'admin', password: 'pa55word' };

export const sushy: EndToEndCase = {
  name: 'sushy',
  about:
    'our client drives sushy-tools (TLS, Basic); redfishtool and python3-sushy drive the rack’s BMC; no machine is started',
  run: async (report) => {
    const directory = await mkdtemp(path.join(tmpdir(), 'railhead-sushy-'));
    const source = createServer((_request, answer) => answer.end('an image')).listen(0, '127.0.0.1');
    try {
      report.phase('fetch');
      const foreign = await foreignRedfish();
      const tls = await loopbackCertificate();
      const image = `http://127.0.0.1:${(source.address() as AddressInfo).port}/small.iso`;
      const emulator = await startEmulator({ foreign, directory, user, tls });
      try {
        await ourClient(report, emulator.address, tls.sha256, image);
      } finally {
        await emulator.close();
      }
      const bmc = await startSimulatedBmc({ directory, tls, delayMs: 300 });
      try {
        await theirClients(report, bmc, foreign, image);
      } finally {
        await bmc.close();
      }
    } finally {
      source.close();
      await rm(directory, { recursive: true });
    }
  },
};

async function ourClient(report: Report, address: string, pin: string, image: string): Promise<void> {
  report.phase('our client, sushy-tools');
  const open = (more: object = {}) => openBmc({ address, ...user, log: silentLog(), ...more });
  const pins: string[] = [];
  const bmc = open({ onPin: (found: string) => pins.push(found) });
  const power = await bmc.getPower();
  report.check('the power is read, by Basic', power === 'off', power);
  report.check('the certificate is pinned at the first contact', pins[0] === pin, pins);
  await checkPower(report, bmc);
  const device = await bmc.setBootDevice({ device: 'pxe', persistent: true });
  report.check('a boot device for every boot is kept', device.device === 'pxe');
  const once = await failureOf(bmc.setBootDevice({ device: 'cd', persistent: false }));
  report.check(
    'a 204 that kept Continuous for Once is found out',
    once?.details.reason === 'not-stored',
    once,
  );
  await bmc.insertMedia(image);
  await bmc.ejectMedia();
  report.check('a medium is inserted and taken out', true);
  const inventory = await bmc.inspect();
  report.check(
    'what it refuses to tell of its machine is noted',
    inventory.notes.length > 0 && inventory.system.uuid === system,
    inventory,
  );
  await bmc.close();
  const wrong = open({ password: 'wrong' });
  const refused = await failureOf(wrong.getPower());
  report.check(
    'a wrong password is told as that',
    refused?.details.reason === 'credentials-refused',
    refused,
  );
  await wrong.close();
  const impostor = open({ certificateSha256: '0'.repeat(64) });
  const mismatch = await failureOf(impostor.getPower());
  report.check('another certificate is a hard stop', mismatch?.details.reason === 'pin-mismatch', mismatch);
  await impostor.close();
}

async function checkPower(report: Report, bmc: Bmc): Promise<void> {
  report.check('on, and it waits until it is', (await bmc.setPower('on')) === 'on');
  report.check('a restart', (await bmc.setPower('cycle')) === 'on');
  report.check('off, and it waits until it is', (await bmc.setPower('off')) === 'off');
}

async function failureOf(work: Promise<unknown>): Promise<RailheadError | undefined> {
  return work.then(
    () => undefined,
    (error: unknown) => {
      if (hasCode(error, 'DRIVER_ERROR') || hasCode(error, 'UNSUPPORTED')) return error;
      throw error;
    },
  );
}

async function theirClients(
  report: Report,
  bmc: SimulatedBmc,
  foreign: ForeignRedfish,
  image: string,
): Promise<void> {
  const { address, machine, record } = bmc;
  const { username, password } = record.bmc;
  const env = { PYTHONPATH: foreign.debianModules, PYTHONWARNINGS: 'ignore', PATH: process.env.PATH ?? '' };
  report.phase('python3-sushy, the rack’s BMC');
  const operations = ['power', 'on', 'pxe', 'cycle', 'insert', 'eject', 'off'];
  const script = path.resolve(import.meta.dirname, '../sushy/operate.py');
  const said = await run(foreign.python, [script, address, username, password, image, ...operations], {
    env,
  });
  const answers = JSON.parse(said.trim().split('\n').at(-1) ?? '{}');
  report.check(
    'it reads the power, and switches on and off',
    answers.on === 'On' && answers.off === 'Off',
    answers,
  );
  report.check('its boot device is used', machine.starts.at(-1)?.target === 'Pxe', machine.starts);
  report.check('it inserts and ejects a medium', answers.insert === true && answers.eject === false, answers);
  report.check('it leaves no session', bmc.sessions.ids().length === 0, bmc.sessions.ids());
  report.phase('redfishtool, the rack’s BMC');
  const tool = (...args: string[]) => {
    const login = ['-r', new URL(address).host, '-u', username, '-p', password, '-S', 'Always'];
    return run(foreign.python, [foreign.redfishtool, ...login, ...args], { env });
  };
  const shown = JSON.parse(await tool('Systems', '-F'));
  report.check('it reads the system', shown.SerialNumber === record.serial, shown);
  await tool('Systems', '-F', 'setBootOverride', 'Once', 'Pxe');
  report.check('it sets the boot device', machine.bootOverride.target === 'Pxe', machine.bootOverride);
  await tool('Systems', '-F', 'reset', 'On');
  report.check('it switches on', machine.actions.at(-1) === 'On', machine.actions);
}
