import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openSsh, type SshOptions } from '#console/ssh/open.ts';
import { listener } from '../fakes/heard.ts';
import { type SerialMachine, startSerialMachine } from '../fakes/serialMachine.ts';
import { newHostKey, type SshBmcOptions, startSshBmc, user } from '../fakes/sshBmc.ts';

let machine: SerialMachine;
beforeAll(async () => {
  machine = await startSerialMachine();
});
afterAll(() => machine.stop());

const idrac = { prompt: 'racadm>>', commands: ['console com2'], leave: '\x1c' };

async function bmcWith(options: Partial<SshBmcOptions> = {}) {
  const bmc = await startSshBmc({ ...idrac, serialPort: machine.port, ...options });
  onTestFinished(() => bmc.stop());
  return bmc;
}

function optionsFor(port: number, more: Partial<SshOptions> = {}) {
  const ear = listener();
  const pins: string[] = [];
  const { commands, leave } = idrac;
  const options: SshOptions = {
    host: '127.0.0.1',
    ...user,
    console: { port, commands, leave },
    onHostKey: (found) => pins.push(found),
    output: ear.output,
    limitMs: 5000,
    quietMs: 100,
    ...more,
  };
  return { options, ear, pins };
}

async function joined(port: number, more: Partial<SshOptions> = {}) {
  const { options, ear, pins } = optionsFor(port, more);
  const session = await openSsh(options);
  onTestFinished(() => session.close());
  return { session, ear, pins };
}

test.each(['password', 'keyboard-interactive'] as const)(
  'the serial port behind a command line is reached with the password by %s, tried once',
  async (auth) => {
    const bmc = await bmcWith({ auth });
    const { session, ear, pins } = await joined(bmc.port);
    machine.print('login: ');
    await ear.hears('login: ');
    session.write(Buffer.from('root\r'));
    await machine.hears('root\r');
    expect(bmc.tried).toEqual(['none', auth]);
    expect(pins).toEqual([expect.stringMatching(/^SHA256:[A-Za-z0-9+/]{43}$/)]);
  },
);

test('a port of its own needs no command', async () => {
  const bmc = await bmcWith({ commands: [] });
  const { ear } = await joined(bmc.port, { console: { port: bmc.port, commands: [] } });
  await expect.poll(() => machine.print('UEFI\r\n') ?? ear.heard).toContain('UEFI');
});

test('two commands are typed one after the other, each at the prompt', async () => {
  const commands = ['cd system1/sol1', 'start'];
  const bmc = await bmcWith({ prompt: '-> ', commands });
  const { ear } = await joined(bmc.port, { console: { port: bmc.port, commands } });
  await expect.poll(() => machine.print('kernel\r\n') ?? ear.heard).toContain('kernel');
});

test('a command that the BMC does not know is followed by the other one', async () => {
  const bmc = await bmcWith({ prompt: 'system>', commands: ['console start'] });
  const console = { port: bmc.port, commands: ['console 1'], otherwise: ['console start'] };
  const { ear } = await joined(bmc.port, { console });
  await expect.poll(() => machine.print('kernel\r\n') ?? ear.heard).toContain('kernel');
});

test('a BMC that does not hand over the port is told with its words', async () => {
  const bmc = await bmcWith({ commands: ['something else'] });
  await expect(openSsh(optionsFor(bmc.port).options)).rejects.toMatchObject({
    code: 'DRIVER_ERROR',
    message: expect.stringContaining('Unknown command'),
    details: { reason: 'console-refused' },
  });
});

test("keys that leave the port are kept from the BMC's command line; at the end they are typed", async () => {
  const bmc = await bmcWith();
  const { session } = await joined(bmc.port);
  session.write(Buffer.from('a\x1cb-kept\r'));
  await machine.hears('ab-kept\r');
  await session.close();
  expect(await session.ended).toBe('closed');
});

test('a session whose command line comes back ends: nobody types commands to the BMC', async () => {
  const bmc = await bmcWith();
  const { session } = await joined(bmc.port);
  bmc.takeAway();
  expect(await session.ended).toContain('took the serial port away');
});

test('a connection that breaks ends the session', async () => {
  const bmc = await bmcWith();
  const { session } = await joined(bmc.port);
  bmc.breakAll();
  expect(await session.ended).toContain('closed');
});

test('a wrong password is tried once', async () => {
  const bmc = await bmcWith();
  const { options } = optionsFor(bmc.port, { password: 'not-this-one' });
  await expect(openSsh(options)).rejects.toMatchObject({ details: { reason: 'credentials-refused' } });
  expect(bmc.tried).toEqual(['none', 'password']);
});

test('another host key than before is refused before the password is sent', async () => {
  const bmc = await bmcWith({ hostKey: newHostKey() });
  const { options, pins } = optionsFor(bmc.port, { hostKey: `SHA256:${'A'.repeat(43)}` });
  await expect(openSsh(options)).rejects.toMatchObject({
    details: { reason: 'pin-mismatch', found: expect.stringContaining('SHA256:') },
  });
  expect(bmc.tried).toEqual([]);
  expect(pins).toEqual([]);
});

test('old algorithms are spoken only where an operator allowed them', async () => {
  const algorithms = {
    kex: ['diffie-hellman-group14-sha1'],
    cipher: ['aes128-cbc'],
    hmac: ['hmac-sha1'],
  } as never;
  const bmc = await bmcWith({ algorithms });
  await expect(openSsh(optionsFor(bmc.port).options)).rejects.toMatchObject({
    details: { reason: 'old-crypto' },
  });
  await joined(bmc.port, { oldCrypto: true });
});

test('nobody there is told as such', async () => {
  const bmc = await startSshBmc({ ...idrac, serialPort: machine.port });
  await bmc.stop();
  await expect(openSsh(optionsFor(bmc.port).options)).rejects.toMatchObject({
    details: { reason: 'unreachable' },
  });
});

test('a BMC that takes the login and opens no session is not waited for', async () => {
  const bmc = await bmcWith({ stalls: true });
  await expect(openSsh(optionsFor(bmc.port, { limitMs: 500 }).options)).rejects.toMatchObject({
    message: expect.stringContaining('opens no session'),
    details: { reason: 'unreachable' },
  });
});
