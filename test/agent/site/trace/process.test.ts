import { spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { appendFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import type { TraceLine } from '#agent/site/trace/lines.ts';
import { run } from '#base/command.ts';
import { openToolbox } from '#base/debian/toolbox.ts';
import { type DhcpPacket, encodePacket } from '#bootserver/dhcp/packet.ts';
import * as dhcp from '../../../bootserver/dhcp/samples.ts';
import { freePort } from '../../../fakes/freePorts.ts';
import { type Bench, mac, nodeId, setUpBench } from '../bench/bench.ts';
import { leasedAddress } from '../bench/leases.ts';
import { fetchScript } from '../bench/scriptedMachine.ts';
import { spawnSite } from '../bench/siteProcess.ts';

// Here, since a new machine downloads it first: that is no test's time.
const toolbox = await openToolbox(['tcpdump'], { cacheDirectory: '.cache/debian' });
const launcher = path.join(import.meta.dirname, '../../../../bin/bcd');

/** A site as a process of its own that takes syslog, and `bcd site` beside it. */
async function runningSite() {
  const bench = await setUpBench(() => ({ address: leasedAddress }));
  const syslog = await freePort();
  await appendFile(bench.configFile, `[syslog]\nlisten = "127.0.0.1:${syslog}"\n`);
  await spawnSite(bench.configFile);
  await bench.centre.until(() =>
    bench.centre.reports.some(({ observedGeneration }) => observedGeneration > 0),
  );
  const args = (...more: string[]) => ['site', ...more, '--config', bench.configFile];
  const bcd = (...more: string[]) => run(launcher, args(...more));
  return { bench, syslog, bcd, args };
}

/** A trace that goes on, whose words come one by one. */
function following(args: string[]) {
  const child = spawn(launcher, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(async () => {
    child.kill();
    await once(child, 'exit');
  });
  const lines: TraceLine[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)));
  const tells = (words: string | RegExp) =>
    expect
      .poll(() => lines.map(({ text }) => text), { timeout: 10_000 })
      .toContainEqual(expect.stringMatching(words));
  return { lines, tells };
}

async function boundSocket(address: string): Promise<Socket> {
  const socket = createSocket('udp4').bind(0, address);
  onTestFinished(() => void socket.close());
  await once(socket, 'listening');
  return socket;
}

async function sendDhcp({ config }: Bench, packet: DhcpPacket): Promise<void> {
  const socket = await boundSocket('127.0.0.1');
  socket.send(encodePacket(packet), config.boot.dhcpPort, '127.0.0.1');
}

/** Downloads a file of one block, or is refused one; the first answer. */
async function loads({ config }: Bench, file: string): Promise<Buffer> {
  const client = await boundSocket(leasedAddress);
  client.send(`\0\x01${file}\0octet\0`, config.boot.tftpPort, '127.0.0.1');
  const [answer, { port }] = (await once(client, 'message')) as [Buffer, { port: number }];
  if (answer[1] === 3) client.send(Buffer.from([0, 4, 0, 1]), port, '127.0.0.1');
  return answer;
}

async function packetsIn(file: string): Promise<string> {
  return toolbox.run('usr/bin/tcpdump', ['-nn', '-r', file]);
}

test('a boot is followed from outside: DHCP, TFTP, script and installer in one, with its packets', async () => {
  const { bench, syslog, bcd, args } = await runningSite();
  const pcap = path.join(bench.directory, 'boot.pcap');
  const trace = following(args('trace', mac, '--json', '--pcap', pcap));
  await expect.poll(() => stat(pcap).catch(() => undefined), { timeout: 10_000 }).toBeDefined();
  // The tap is on once it was asked: its first packets come with a later DISCOVER.
  await expect
    .poll(
      async () => {
        await sendDhcp(bench, dhcp.discover({}, dhcp.clients.uefi64));
        return (await stat(pcap)).size;
      },
      { timeout: 10_000, interval: 300 },
    )
    .toBeGreaterThan(24);
  await trace.tells(`OFFER ${leasedAddress}`);
  const asked = { requestedAddress: leasedAddress, serverId: '127.0.0.1' };
  await sendDhcp(bench, dhcp.request(asked, dhcp.clients.uefi64));
  await trace.tells(`ACK ${leasedAddress}`);
  expect((await loads(bench, 'snponly.efi')).toString('latin1')).toBe('\0\x03\0\x01not iPXE');
  await trace.tells('snponly.efi complete');
  expect((await loads(bench, 'autoexec\x1b[2J.ipxe'))[1]).toBe(5);
  await trace.tells('asked for autoexec\\?\\[2J.ipxe, there is no such file');
  await fetchScript(bench, mac);
  const installer = await boundSocket(leasedAddress);
  installer.send('<27>Oct 11 22:14:15 partman: no disk found', syslog, '127.0.0.1');
  await trace.tells(/^error: partman: no disk found$/);

  const all = (await bcd('trace', mac, '--once', '--json')).trim().split('\n');
  const steps = all
    .map((line) => JSON.parse(line) as TraceLine)
    .filter(({ type }) => type.startsWith('boot.'));
  expect(new Set(steps.map(({ bootId }) => bootId)).size).toBe(1);
  expect([...new Set(steps.map(({ type }) => type))]).toEqual([
    'boot.dhcp',
    'boot.tftp',
    'boot.disk',
    'boot.log',
  ]);
  expect(await bcd('trace', mac, '--once')).toMatch(/ {2}boot\.log {11}error: partman: no disk found\n/);

  // DHCP and both of its answers, the file in three datagrams, the refusal.
  const refusal = /127\.0\.0\.1\.\d+ > 127\.77\.0\.10\.\d+: UDP, length 17\n$/;
  await expect.poll(() => packetsIn(pcap), { timeout: 15_000, interval: 500 }).toMatch(refusal);
  const packets = (await packetsIn(pcap)).trim().split('\n');
  const count = (what: RegExp) => packets.filter((packet) => what.test(packet)).length;
  expect(count(/BOOTP\/DHCP, Request from 02:00:00:00:00:01/)).toBeGreaterThanOrEqual(2);
  expect(count(/127\.0\.0\.1\.67 > .*BOOTP\/DHCP, Reply/)).toBeGreaterThanOrEqual(2);
  expect(count(/: UDP,/)).toBe(5);

  const machines = JSON.parse(await bcd('machines', '--json'));
  expect(machines).toMatchObject([
    { macs: [mac], nodeId, uuid: '33221100-5544-7766-8899-aabbccddeeff', firmware: 'uefi' },
  ]);
  expect(await bcd('machines')).toMatch(new RegExp(`^LAST SEEN .*\\n.* ${nodeId} .* ${mac} `));
}, 60_000);
