import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { silentLog } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import { type DhcpPacket, decodePacket, encodePacket } from '#bootserver/dhcp/packet.ts';
import { startTftpServer } from '#bootserver/tftp/server.ts';
import { runIn } from '#rack/netns.ts';
import { Bench } from './dhcp/bench.ts';
import { clients, discover, request } from './dhcp/samples.ts';
import { content } from './tftp/samples.ts';
import { useWire } from './twoNamespaces.ts';

/** Why DHCP and TFTP are our own: docs/decisions/0001-own-dhcp-and-tftp.md. Both packages were made for other uses. */
const require = createRequire(import.meta.url);

describe('the npm package dhcp', () => {
  const protocol = require('dhcp/lib/protocol.js') as {
    parse(bytes: Buffer): { options: Record<number, unknown> };
  };
  const dhcp = require('dhcp') as {
    createServer(options: object): NpmDhcpServer;
  };
  interface NpmDhcpServer {
    _send(host: string, packet: { options: Record<number, number> }): void;
    handleRequest(packet: object): void;
    _req: object;
    close(): void;
  }

  test('loses what follows a pad byte, which ours reads', () => {
    const bytes = Buffer.from(encodePacket(discover()));
    bytes.write('350101003204'.concat('0a4d0064', 'ff'), 240, 'hex');
    expect(protocol.parse(bytes).options[50]).toBeUndefined();
    expect((decodePacket(bytes) as DhcpPacket).options.get(50)?.toString('hex')).toBe('0a4d0064');
  });

  test('does not know architecture, machine and relay options', () => {
    const bytes = encodePacket(discover({}, { ...clients.uefi64, 82: '010401020304' }));
    expect(Object.keys(protocol.parse(bytes).options)).toEqual(['53', '60']);
  });

  test('acknowledges a REQUEST that was meant for another server, where ours is silent', () => {
    const packet = request({ serverId: '10.0.0.9', requestedAddress: '10.0.0.77' });
    const server = dhcp.createServer({
      range: ['10.77.0.100', '10.77.0.103'],
      server: '10.77.0.1',
      leaseTime: 600,
    });
    const sent: number[] = [];
    server._send = (_, reply) => sent.push(reply.options[53]!);
    server._req = protocol.parse(encodePacket(packet));
    server.handleRequest(server._req);
    server.close();
    expect(sent).toEqual([5]);
    expect(new Bench().ask(packet).kind).toBe('silent');
  });
});

describe('the npm package tftp, with every 50th datagram lost', () => {
  const wire = useWire();
  const file = content(100_000);
  let directory: string;
  let ours: Closable;
  let npm: {
    listen(): void;
    close(): void;
    on(event: string, listener: (request: NpmRequest) => void): void;
  };
  interface NpmRequest {
    on(event: 'error', listener: () => void): void;
  }

  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'npm-tftp-'));
    await writeFile(path.join(directory, 'small'), file);
    const { address } = wire.server;
    npm = require('tftp').createServer({ host: address, port: 6969, root: directory, denyPUT: true });
    npm.on('request', (one) => one.on('error', () => {}));
    npm.on('error', () => {});
    npm.listen();
    await once(npm as never, 'listening');
    ours = await startTftpServer({
      address,
      port: 69,
      files: new Map([['small', file]]),
      limits: { blockSize: 1468, windowSize: 32 },
      report: () => {},
      log: silentLog(),
      clock: systemClock,
    });
    await runIn(wire.clientNamespace, ['ip', 'addr', 'add', '10.77.0.50/24', 'dev', 'client0']);
    await wire.loseEvery(50);
  });

  afterAll(async () => {
    npm.close();
    await ours.close();
    await rm(directory, { recursive: true });
  });

  const download = (port: number) =>
    runIn(wire.clientNamespace, [
      'curl',
      '-sS',
      '-m',
      '2',
      '-o',
      '/dev/null',
      `tftp://10.77.0.1:${port}/small`,
    ]);

  test('stands still for seconds at each loss; ours has long been done', async () => {
    const outOfTime = 28;
    await expect(download(6969)).rejects.toMatchObject({ status: outOfTime });
    await download(69);
  });
});
