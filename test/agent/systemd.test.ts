import { spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { SiteConfig } from '#agent/site/config.ts';
import { listenFds } from '#agent/site/listenFds.ts';
import { socketUnits, writeUnits } from '#agent/site/socketUnits.ts';
import { freePorts } from '../fakes/freePorts.ts';
import { setUpBench } from './site/bench/bench.ts';
import { configureSite } from './site/bench/loopbackSite.ts';

const root = path.join(import.meta.dirname, '../..');
const launcher = path.join(root, 'bin/bcd');
const has = (program: string) => spawnSync(program, ['--version']).status === 0;

test('descriptors are known by their names, and only to the process that they are for', () => {
  const environment = { LISTEN_PID: '7', LISTEN_FDS: '3', LISTEN_FDNAMES: 'dhcp:dhcp:tftp' };
  expect(listenFds(environment, 7)).toEqual(
    new Map([
      ['dhcp', [3, 4]],
      ['tftp', [5]],
    ]),
  );
  expect(listenFds(environment, 8)).toEqual(new Map());
  expect(listenFds({}, 7)).toEqual(new Map());
});

test('DHCP is bound to the interface by its name, TFTP to the address', async () => {
  const { config } = await configureSite();
  const [dhcp, tftp] = socketUnits(config);
  expect(dhcp?.text).toContain(
    `ListenDatagram=0.0.0.0:${config.boot.dhcpPort}\nListenDatagram=127.0.0.1:${config.boot.dhcpPort}\nFreeBind=yes\nBindToDevice=lo\n`,
  );
  expect(tftp?.text).toContain(`ListenDatagram=127.0.0.1:${config.boot.tftpPort}\n`);
});

test.each([
  ['proxy', ['bcd-dhcp.socket', 'bcd-pxe.socket', 'bcd-tftp.socket']],
  ['4011-only', ['bcd-pxe.socket', 'bcd-tftp.socket']],
  ['off', ['bcd-tftp.socket']],
] as const)('in mode %s the sockets are %j', async (mode, names) => {
  const { config } = await configureSite();
  const units = socketUnits({ ...config, provisioning: { ...config.provisioning, mode } });
  expect(units.map(({ name }) => name)).toEqual(names);
  const pxe = units.find(({ name }) => name === 'bcd-pxe.socket');
  if (mode !== 'off') expect(pxe?.text).toContain('ListenDatagram=127.0.0.1:4011\nFreeBind=yes\n');
});

test('DHCPv6 has a socket of its own for IPv6 alone, on the same interface', async () => {
  const { config } = await configureSite();
  const [, , dhcp6, tftp6] = socketUnits(withIPv6(config));
  expect([dhcp6?.name, tftp6?.name]).toEqual(['bcd-dhcp6.socket', 'bcd-tftp6.socket']);
  expect(dhcp6?.text).toContain('ListenDatagram=[::]:547\nBindIPv6Only=ipv6-only\nBindToDevice=lo\n');
  expect(tftp6?.text).toContain(`ListenDatagram=[fd77::1]:${config.boot.tftpPort}\n`);
});

test('syslog has a socket where the configuration asks for it', async () => {
  const { config } = await configureSite();
  const units = socketUnits({ ...config, syslog: { listen: '127.0.0.1:514' } });
  expect(units.at(-1)).toMatchObject({ name: 'bcd-syslog.socket' });
  expect(units.at(-1)?.text).toContain('ListenDatagram=127.0.0.1:514\n');
});

function withIPv6(config: SiteConfig): SiteConfig {
  const ipv6 = { mode: 'full', address: 'fd77::1', prefixLength: 64, preference: 0 } as const;
  return { ...config, provisioning: { ...config.provisioning, ipv6 } };
}

test.skipIf(!has('systemd-analyze'))('systemd finds nothing to say about the units', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-units-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const { config } = await configureSite();
  await writeUnits(directory, socketUnits({ ...withIPv6(config), syslog: { listen: '[fd77::1]:514' } }));
  const service = await readFile(path.join(root, 'systemd/bcd-site.service'), 'utf8');
  await writeFile(path.join(directory, 'bcd-site.service'), service.replace('/usr/bin/bcd', launcher));
  const sockets = ['dhcp', 'tftp', 'dhcp6', 'tftp6', 'syslog'].map((name) => `bcd-${name}.socket`);
  const units = ['bcd-site.service', ...sockets].map((name) => path.join(directory, name));
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', ...units], { encoding: 'utf8' });
  expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: '' });
});

test.skipIf(!has('systemd-socket-activate'))(
  'the agent serves TFTP on a socket that systemd has bound',
  async () => {
    const bench = await setUpBench();
    const [dhcp, tftp] = (await freePorts(2)) as [number, number];
    const sockets = [`--listen=127.0.0.1:${dhcp}`, `--listen=127.0.0.1:${tftp}`, '--fdname=dhcp:tftp'];
    const agent = spawn(
      'systemd-socket-activate',
      ['--datagram', ...sockets, launcher, 'site', '--config', bench.configFile],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    onTestFinished(async () => {
      agent.kill();
      await once(agent, 'exit');
    });
    await once(agent.stderr, 'data');
    const client = createSocket('udp4');
    onTestFinished(() => void client.close());
    client.send('\0\x01snponly.efi\0octet\0', tftp, '127.0.0.1');
    const [answer] = (await once(client, 'message')) as [Buffer];
    expect(answer.toString('latin1')).toBe('\0\x03\0\x01not iPXE');
  },
);
