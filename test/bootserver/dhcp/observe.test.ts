import Database from 'better-sqlite3';
import { beforeEach, describe, expect, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import { Boots } from '#bootserver/boots.ts';
import { clientFacts } from '#bootserver/dhcp/client.ts';
import { Conversations } from '#bootserver/dhcp/conversations.ts';
import type { DhcpMode } from '#bootserver/dhcp/network.ts';
import { observeMessage, observeOffer } from '#bootserver/dhcp/observe.ts';
import type { DhcpPacket } from '#bootserver/dhcp/packet.ts';
import { type HeardAddresses, openHeardAddresses } from '#bootserver/heardAddresses.ts';
import type { BootEvent } from '#bootserver/machine.ts';
import { type SteppingClock, steppingClock } from '../../fakes/clocks.ts';
import { Bench, network } from './bench.ts';
import { ascii, clients, discover, hardware, type RawOptions, request } from './samples.ts';

const mac = '02:00:00:00:00:01';
const other = '10.77.0.9';
let events: BootEvent[];
let clock: SteppingClock;
let boots: Boots;
let heard: HeardAddresses;

beforeEach(() => {
  events = [];
  clock = steppingClock(1_000_000);
  boots = new Boots((event) => events.push(event), clock);
  heard = openHeardAddresses({ database: new Database(':memory:'), log: silentLog(), isNamed: () => false });
});

/** One message as the server's edge treats it. */
function hear(packet: DhcpPacket, mode: DhcpMode): void {
  const bench = new Bench();
  bench.network = { ...network, mode };
  const client = clientFacts(packet);
  observeMessage(packet, client, bench.network, { boots, heard });
  const decision = bench.ask(packet);
  if (packet.options.get(53)?.[0] !== 1) return;
  observeOffer(client, decision.kind === 'reply' ? decision.reply : undefined, bench.network, {
    boots,
    heard,
  });
}

const advice = () => events.filter(({ type }) => type === 'boot.advice').map(({ text }) => text);

describe('case 22: a client of an architecture without a boot file', () => {
  const unknown: RawOptions = { 60: ascii('PXEClient:Arch:00255'), 93: '00ff' };

  test.each(['full', 'proxy'] as const)('is counted and told of, once in a boot (%s)', (mode) => {
    for (let at = 0; at < 3; at++) hear(discover({}, unknown), mode);
    expect(advice()).toEqual([
      expect.stringContaining('no boot file for its architecture 255: it gets none'),
    ]);
    expect(boots.troubles.of('no-boot-file')).toBe(1);
  });

  test('that is known by name is named', () => {
    hear(discover({}, { 60: ascii('PXEClient'), 93: '0006' }), 'full');
    expect(advice()[0]).toContain('architecture 6 (uefi, i386)');
  });

  test('a Raspberry Pi, whose ROM names no file, is none', () => {
    hear(discover({}, clients.bios, { chaddr: hardware('dc:a6:32:00:00:01') }), 'full');
    expect(advice()).toEqual([]);
  });
});

test('case 8: an option 97 of 16 or 18 bytes is counted; one that is empty or absent is not', () => {
  for (const length of [0, 16, 17, 18])
    hear(discover({}, { ...clients.bios, 97: '00'.repeat(length) }), 'full');
  hear(discover({}, { 60: clients.bios[60], 93: '0000' }), 'full');
  expect(boots.troubles.of('bad-machine-id')).toBe(2);
});

describe('beside another server', () => {
  test('who takes which address is known from the REQUEST to it', () => {
    hear(request({ serverId: other, requestedAddress: '10.77.0.50' }, clients.uefi64), 'proxy');
    expect(heard.macAt('10.77.0.50')).toBe(mac);
    hear(request({}, clients.ramdisk, { ciaddr: '10.77.0.51' }), 'proxy');
    expect(heard.macAt('10.77.0.51')).toBe(mac);
  });

  test('firmware that never comes for its file is told of', () => {
    for (let round = 0; round < 3; round++) {
      hear(discover({}, clients.uefi64), 'proxy');
      hear(request({ serverId: other, requestedAddress: '10.77.0.50' }, clients.uefi64), 'proxy');
    }
    expect(advice()).toEqual([expect.stringContaining('discovery-control')]);
    expect(boots.troubles.of('not-accepted')).toBe(1);
  });

  test('firmware that loads its file is not', () => {
    for (let round = 0; round < 6; round++) {
      hear(discover({}, clients.uefi64), 'proxy');
      hear(request({ serverId: other, requestedAddress: '10.77.0.50' }, clients.uefi64), 'proxy');
      boots.note(mac, 'boot.tftp', 'snponly.efi complete');
    }
    expect(advice()).toEqual([]);
  });
});

test('where we give the addresses, four DISCOVERs without a REQUEST are told of', () => {
  for (let at = 0; at < 4; at++) hear(discover({}, clients.bios), 'full');
  expect(advice()).toEqual([expect.stringContaining('4 offers in a row were not accepted')]);
});

test('case 21: a machine that loads iPXE in five boots on end gets no more of it, and may again later', () => {
  for (let boot = 0; boot < 5; boot++) {
    hear(discover({}, clients.uefi64), 'proxy');
    boots.loaderGiven(mac);
  }
  expect(advice()).toEqual([expect.stringContaining('loaded iPXE 5 times')]);
  expect(boots.stateOf(mac)).toEqual({ loaderGiven: true, isLooping: true });
  void clock.sleep(10 * 60_000);
  expect(boots.stateOf(mac).isLooping).toBe(false);
});

describe('case 17: a REQUEST without option 60', () => {
  const conversations = new Conversations();
  const known = (packet: DhcpPacket) => conversations.clientOf(packet, clientFacts(packet)).kind;
  const pi = { chaddr: hardware('dc:a6:32:00:00:01') };

  test('is of the client that sent the DISCOVER, whose ACK so has what its OFFER had', () => {
    expect(known(discover({}, clients.bios, pi))).toBe('raspberry-pi');
    expect(known(request({}, {}, pi))).toBe('raspberry-pi');
  });

  test('of another conversation, or of a client that has become an OS, is what it says', () => {
    expect(known(request({}, {}, { ...pi, xid: 9 }))).toBe('os');
    expect(known(discover({}, clients.os, pi))).toBe('os');
    expect(known(request({}, {}, pi))).toBe('os');
  });
});
