import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { silentLog } from '#base/log.ts';
import { IpmiClient } from '#ipmi/client.ts';
import { openSol } from '#ipmi/sol.ts';
import { SolKeys } from '#ipmi/solKeys.ts';
import { listener } from '../fakes/heard.ts';
import { type IpmiSim, startIpmiSim } from '../fakes/ipmiSim.ts';
import { type SerialMachine, startSerialMachine } from '../fakes/serialMachine.ts';

let machine: SerialMachine;
let sim: IpmiSim;
beforeAll(async () => {
  machine = await startSerialMachine();
  sim = await startIpmiSim({ serialPort: machine.port });
});
afterAll(async () => {
  await sim.stop();
  await machine.stop();
});

const suites = new Map<string, number>();

function client(password = sim.password) {
  return new IpmiClient({
    address: sim.address,
    username: sim.username,
    password,
    program: sim.ipmitool,
    ciphers: {
      find: (address) => suites.get(address),
      keep: (address, suite) => void suites.set(address, suite),
    },
    log: silentLog(),
    clock: systemClock,
  });
}

async function joined(options: { takeOver?: boolean } = {}) {
  const ear = listener();
  const session = await openSol(client(), { output: ear.output, ...options });
  onTestFinished(() => session.close());
  return { session, ear };
}

test('a serial port is read and typed to by IPMI, whatever the keys are', async () => {
  const { session, ear } = await joined();
  machine.print('login: \x1b[1mbold\x1b[0m \xc3\xa9\r\n');
  await ear.hears('login: \x1b[1mbold');
  expect(ear.heard).not.toContain('SOL Session');
  session.write(Buffer.from('~.a\r~.~~\r\x03\x1b[A'));
  await machine.hears('~.a\r~.~~\r\x03\x1b[A');
  expect(session.by).toBe('sol');
});

test('a session that was closed leaves the port to the next', async () => {
  const first = await joined();
  await first.session.close();
  expect(await first.session.ended).toEqual(expect.any(String));
  const second = await joined();
  machine.print('again\r\n');
  await second.ear.hears('again');
});

test('a port that somebody else has is told as busy, and is taken only when asked', async () => {
  await joined();
  await expect(openSol(client(), { output: () => {} })).rejects.toMatchObject({
    code: 'DRIVER_ERROR',
    details: { reason: 'console-busy' },
  });
  const second = await joined({ takeOver: true });
  machine.print('taken\r\n');
  await second.ear.hears('taken');
});

test('a wrong password is told as such, and is in no argument', async () => {
  const wrong = openSol(client('not-this-one'), { output: () => {} });
  await expect(wrong).rejects.toMatchObject({ details: { reason: 'credentials-refused' } });
  expect(await sim.arguments()).not.toContain(sim.password);
});

test('a tilde at the beginning of a line is doubled, also when it comes alone', () => {
  const keys = new SolKeys();
  const typed = (text: string) => keys.typed(Buffer.from(text)).toString();
  expect([typed('~'), typed('a~'), typed('\r'), typed('~.')]).toEqual(['~~', 'a~', '\r', '~~.']);
});
