import { describe, expect, test } from 'vitest';
import { candidates, poolUse } from '#bootserver/dhcp/allocation.ts';
import type { DhcpPacket } from '#bootserver/dhcp/packet.ts';
import { messageType } from '#bootserver/dhcp/reply.ts';
import { Bench, network, optionOf } from './bench.ts';
import { clientMessage, clients, discover, hardware, rawOption, request } from './samples.ts';

const serverId = network.address;
const other = { chaddr: hardware('02:00:00:00:00:02') };

/** A client that has gone the whole way; the address that it got. */
function boundClient(bench: Bench, header: Partial<DhcpPacket> = {}): string {
  const { yiaddr } = bench.reply(discover({}, {}, header));
  bench.reply(request({ serverId, requestedAddress: yiaddr }, {}, header));
  return yiaddr;
}

describe('DISCOVER and REQUEST', () => {
  test('the whole exchange, with everything that a client needs', () => {
    const bench = new Bench();
    bench.reserved.set('02:00:00:00:00:01', { address: '10.77.0.20', hostname: 'node-1' });
    const offer = bench.reply(
      discover({ clientId: Buffer.from([1, 2]) }, {}, { xid: 7, secs: 4, flags: 0x8000 }),
    );
    expect(offer).toMatchObject({ op: 2, xid: 7, flags: 0x8000, yiaddr: '10.77.0.20', siaddr: '0.0.0.0' });
    expect(offer.chaddr).toEqual(hardware('02:00:00:00:00:01'));
    const ack = bench.reply(request({ serverId, requestedAddress: '10.77.0.20' }));
    expect(ack.yiaddr).toBe('10.77.0.20');
    expect(optionOf(ack, 'messageType')).toBe(messageType.ack);
    expect(optionOf(ack, 'serverId')).toBe('10.77.0.1');
    expect(optionOf(ack, 'subnetMask')).toBe('255.255.255.0');
    expect(optionOf(ack, 'routers')).toEqual(['10.77.0.1']);
    expect(optionOf(ack, 'dnsServers')).toEqual(['10.77.0.1', '9.9.9.9']);
    expect(optionOf(ack, 'leaseSeconds')).toBe(600);
    expect(optionOf(ack, 'renewalSeconds')).toBe(300);
    expect(optionOf(ack, 'rebindingSeconds')).toBe(525);
    expect(optionOf(ack, 'hostname')).toBe('node-1');
  });

  test('an address is held from the OFFER on: two clients at once get two', () => {
    const bench = new Bench();
    expect(bench.reply(discover()).yiaddr).not.toBe(bench.reply(discover({}, {}, other)).yiaddr);
  });

  test('the same client is offered the same address again', () => {
    const bench = new Bench();
    expect(bench.reply(discover()).yiaddr).toBe(bench.reply(discover()).yiaddr);
  });

  test('an offer that nobody took is free again after two minutes', () => {
    const bench = new Bench();
    bench.network = { ...network, pool: { first: '10.77.0.100', last: '10.77.0.100' } };
    bench.reply(discover());
    expect(bench.ask(discover({}, {}, other))).toMatchObject({ kind: 'silent', reason: 'no free address' });
    bench.now += 120_000;
    expect(bench.reply(discover({}, {}, other)).yiaddr).toBe('10.77.0.100');
  });

  test('a full pool is answered by silence, and never by an address of somebody else', () => {
    const bench = new Bench();
    const given = [1, 2, 3, 4].map((n) => boundClient(bench, { chaddr: hardware(`02:00:00:00:01:0${n}`) }));
    expect(given.toSorted()).toEqual(['10.77.0.100', '10.77.0.101', '10.77.0.102', '10.77.0.103']);
    expect(bench.ask(discover()).kind).toBe('silent');
  });

  test('a client gets its former address back after the lease has run out', () => {
    const bench = new Bench();
    const address = boundClient(bench);
    bench.now += 3_600_000;
    expect(bench.reply(discover()).yiaddr).toBe(address);
  });

  test('an expired lease goes to another client only when nothing else is free', () => {
    const bench = new Bench();
    const address = boundClient(bench);
    bench.now += 3_600_000;
    for (const n of [1, 2, 3]) {
      const chaddr = hardware(`02:00:00:00:02:0${n}`);
      expect(boundClient(bench, { chaddr })).not.toBe(address);
    }
    expect(boundClient(bench, other)).toBe(address);
  });

  test('the address that a client asks for is given when it is free', () => {
    expect(new Bench().reply(discover({ requestedAddress: '10.77.0.102' })).yiaddr).toBe('10.77.0.102');
  });

  test.each(['10.77.0.1', '10.77.0.0', '10.77.0.255', '10.77.0.50', '192.168.1.7'])(
    'an offer is never %s, which is no address of the pool',
    (requestedAddress) => {
      expect(new Bench().reply(discover({ requestedAddress })).yiaddr).toMatch(/^10\.77\.0\.10[0-3]$/);
    },
  );

  test('ROM, iPXE and OS of one machine keep one address although their client identifiers differ', () => {
    const bench = new Bench();
    const ids = [undefined, '01020000000001', `ff${'ab'.repeat(14)}`];
    const replies = ids.map((id) => bench.reply(discover({}, id === undefined ? {} : { 61: id })));
    expect(new Set(replies.map(({ yiaddr }) => yiaddr)).size).toBe(1);
    expect(replies.map((reply) => rawOption(reply, 'clientId'))).toEqual(ids);
  });

  test('a reserved address inside the pool is given to nobody else', () => {
    const bench = new Bench();
    bench.network = { ...network, pool: { first: '10.77.0.100', last: '10.77.0.101' } };
    bench.reserved.set('02:00:00:00:00:02', { address: '10.77.0.100' });
    expect(bench.reply(discover()).yiaddr).toBe('10.77.0.101');
    expect(bench.reply(discover({}, {}, other)).yiaddr).toBe('10.77.0.100');
  });

  test('one address in twenty is kept for machines that the site has named, whatever strangers take', () => {
    const bench = new Bench();
    bench.network = { ...network, pool: { first: '10.77.0.100', last: '10.77.0.139' } };
    for (let n = 10; n < 48; n++) boundClient(bench, { chaddr: hardware(`02:00:00:00:03:${n}`) });
    expect(bench.ask(discover({ requestedAddress: '10.77.0.139' }))).toMatchObject({ noAddress: true });
    expect(poolUse(bench.view())).toMatchObject({ free: 2, kept: 2 });
    bench.reserved.set('02:00:00:00:00:02', { hostname: 'named' });
    const kept = boundClient(bench, other);
    expect(['10.77.0.138', '10.77.0.139']).toContain(kept);
    // Its lease outlives the name.
    bench.reserved.clear();
    expect(bench.reply(request({}, {}, { ...other, ciaddr: kept })).yiaddr).toBe(kept);
  });

  test('without a pool a stranger hears nothing', () => {
    const bench = new Bench();
    const { pool, ...withoutPool } = network;
    bench.network = withoutPool;
    expect(bench.ask(discover())).toMatchObject({ kind: 'silent', reason: 'no free address' });
    expect(pool).toBeDefined();
  });

  test('no DNS option is sent when there is no server', () => {
    const bench = new Bench();
    bench.network = { ...network, dns: [] };
    expect(rawOption(bench.reply(discover()), 'dnsServers')).toBeUndefined();
  });
});

describe('hosts that have an address which nobody gave them', () => {
  const foreign = '02:00:00:00:00:99';
  const onePool = { ...network, pool: { first: '10.77.0.100', last: '10.77.0.101' } };

  test('their addresses are not offered', () => {
    const bench = new Bench();
    bench.network = onePool;
    bench.neighbours.set('10.77.0.100', foreign);
    expect(bench.reply(discover()).yiaddr).toBe('10.77.0.101');
    expect(bench.ask(discover({}, {}, other))).toMatchObject({ kind: 'silent', noAddress: true });
  });

  test('one that is found after the OFFER ends in a refusal, and the client gets another address', () => {
    const bench = new Bench();
    const { yiaddr } = bench.reply(discover());
    bench.neighbours.set(yiaddr, foreign);
    expect(bench.ask(request({ serverId, requestedAddress: yiaddr }))).toMatchObject({ what: 'NAK' });
    expect(bench.reply(discover()).yiaddr).not.toBe(yiaddr);
  });

  test('the client itself, up with its former address, is none of them', () => {
    const bench = new Bench();
    const address = boundClient(bench);
    bench.now += 3_600_000;
    bench.neighbours.set(address, '02:00:00:00:00:01');
    expect(boundClient(bench)).toBe(address);
  });

  test('a client keeps a lease that it has, whoever answers there', () => {
    const bench = new Bench();
    const address = boundClient(bench);
    bench.neighbours.set(address, foreign);
    expect(bench.reply(request({}, {}, { ciaddr: address })).yiaddr).toBe(address);
  });

  test('a machine whose reserved address another host has gets one of the pool, until that one is gone', () => {
    const bench = new Bench();
    bench.reserved.set('02:00:00:00:00:01', { address: '10.77.0.20' });
    bench.neighbours.set('10.77.0.20', foreign);
    expect(boundClient(bench)).toMatch(/^10\.77\.0\.10[0-3]$/);
    bench.neighbours.clear();
    expect(boundClient(bench)).toBe('10.77.0.20');
  });

  test('an address at which nobody answered comes before those that nobody looked at', () => {
    const bench = new Bench();
    const first = bench.reply(discover()).yiaddr;
    const unseen = ['10.77.0.100', '10.77.0.101', '10.77.0.102', '10.77.0.103'].filter(
      (one) => one !== first,
    );
    bench.silentAddresses.add(first).add(unseen[2]!);
    expect(bench.reply(discover({}, {}, other)).yiaddr).toBe(unseen[2]);
  });
});

describe('the pool', () => {
  const view = (bench: Bench) => ({
    ...bench.view(),
    reservations: { reservation: () => undefined, isReserved: (one: string) => one === '10.77.0.103' },
  });

  test('candidates are the free addresses that no host and no reservation has, no more than asked for', () => {
    const bench = new Bench();
    const address = boundClient(bench);
    const free = ['10.77.0.100', '10.77.0.101', '10.77.0.102'].filter((one) => one !== address);
    expect(candidates(view(bench), 9)).toEqual(free);
    expect(candidates(view(bench), 1)).toEqual(free.slice(0, 1));
    bench.neighbours.set(free[0]!, '02:00:00:00:00:99');
    expect(candidates(view(bench), 9)).toEqual(free.slice(1));
  });

  test('its use is told in figures', () => {
    const bench = new Bench();
    bench.network = { ...network, pool: { first: '10.77.0.96', last: '10.77.0.111' } };
    boundClient(bench);
    const declined = boundClient(bench, other);
    bench.ask(clientMessage({ messageType: messageType.decline, requestedAddress: declined }, {}, other));
    const [taken] = candidates(view(bench), 1);
    bench.neighbours.set(taken!, '02:00:00:00:00:99');
    expect(poolUse(view(bench))).toEqual({ size: 16, free: 12, kept: 0, declined: 1, foreignHosts: 1 });
  });
});

describe('REQUEST in its other meanings', () => {
  test('for another server: silence, and our offer is free at once', () => {
    const bench = new Bench();
    const { yiaddr } = bench.reply(discover());
    const decision = bench.ask(request({ serverId: '10.0.0.9', requestedAddress: '10.0.0.77' }));
    expect(decision).toMatchObject({ kind: 'silent', reason: 'another server was chosen' });
    expect(bench.leases.at(yiaddr)).toBeUndefined();
  });

  test('for another server while it has a lease of ours: the lease stays', () => {
    const bench = new Bench();
    const address = boundClient(bench);
    bench.ask(request({ serverId: '10.0.0.9', requestedAddress: '10.0.0.77' }));
    expect(bench.leases.at(address)?.state).toBe('bound');
  });

  test('INIT-REBOOT with the right address is acknowledged, with a wrong one refused', () => {
    const bench = new Bench();
    const address = boundClient(bench);
    expect(bench.reply(request({ requestedAddress: address })).yiaddr).toBe(address);
    expect(bench.ask(request({ requestedAddress: '192.168.0.9' }))).toMatchObject({ what: 'NAK' });
  });

  test('INIT-REBOOT of a client without a record is met by silence (RFC 2131 §4.3.2)', () => {
    const decision = new Bench().ask(request({ requestedAddress: '10.77.0.101' }));
    expect(decision).toMatchObject({ kind: 'silent', reason: 'no record of this client' });
  });

  test('renewing extends the lease', () => {
    const bench = new Bench();
    const address = boundClient(bench);
    bench.now += 300_000;
    const ack = bench.reply(request({}, {}, { ciaddr: address }));
    expect(ack).toMatchObject({ yiaddr: address, ciaddr: address });
    expect(bench.leases.at(address)?.expiresAt).toBe(bench.now + 600_000);
  });

  test('renewing survives the loss of the database while the address is free', () => {
    const bench = new Bench();
    bench.isForgetful = true;
    expect(bench.reply(request({}, {}, { ciaddr: '10.77.0.102' })).yiaddr).toBe('10.77.0.102');
    expect(bench.ask(request({}, {}, { ...other, ciaddr: '10.77.0.200' })).kind).toBe('silent');
  });

  test('a client of another server that renews or rebinds is left alone, one of another network is refused', () => {
    const bench = new Bench();
    for (const ciaddr of ['10.77.0.200', '10.77.0.102'])
      expect(bench.ask(request({}, {}, { ciaddr }))).toMatchObject({ reason: 'no record of this client' });
    expect(bench.ask(request({}, {}, { ciaddr: '192.0.2.7' }))).toMatchObject({ what: 'NAK' });
  });

  test('a stranger who was offered nothing gets no lease by asking; a named machine, or anybody after a loss, does', () => {
    const bench = new Bench();
    const blind = request({ serverId, requestedAddress: '10.77.0.102' });
    expect(bench.ask(blind)).toMatchObject({ what: 'NAK', changes: [] });
    bench.isForgetful = true;
    expect(bench.reply(blind).yiaddr).toBe('10.77.0.102');
    bench.isForgetful = false;
    bench.reserved.set('02:00:00:00:00:02', { hostname: 'named' });
    const named = request({ serverId, requestedAddress: '10.77.0.101' }, {}, other);
    expect(bench.reply(named).yiaddr).toBe('10.77.0.101');
  });

  test('a stranger has its first lease for fifteen minutes, and the whole time when it renews', () => {
    const bench = new Bench();
    bench.network = { ...network, leaseSeconds: 3600 };
    const seconds = (packet: DhcpPacket) => optionOf(bench.reply(packet), 'leaseSeconds');
    const { yiaddr } = bench.reply(discover());
    expect(seconds(request({ serverId, requestedAddress: yiaddr }))).toBe(900);
    expect(seconds(request({}, {}, { ciaddr: yiaddr }))).toBe(3600);
    expect(bench.leases.at(yiaddr)?.expiresAt).toBe(bench.now + 3_600_000);
    bench.reserved.set('02:00:00:00:00:02', { hostname: 'named' });
    expect(seconds(discover({}, {}, other))).toBe(3600);
  });

  test('renewing what is somebody else’s by now is refused', () => {
    const bench = new Bench();
    const address = boundClient(bench, other);
    expect(bench.ask(request({}, {}, { ciaddr: address }))).toMatchObject({ what: 'NAK' });
  });

  test('selecting an address that was never offered and is taken is refused', () => {
    const bench = new Bench();
    const address = boundClient(bench, other);
    expect(bench.ask(request({ serverId, requestedAddress: address }))).toMatchObject({ what: 'NAK' });
  });

  test('a client that was given a reservation since is moved to it', () => {
    const bench = new Bench();
    const address = boundClient(bench);
    bench.reserved.set('02:00:00:00:00:01', { address: '10.77.0.20' });
    expect(bench.ask(request({}, {}, { ciaddr: address }))).toMatchObject({ what: 'NAK' });
    expect(boundClient(bench)).toBe('10.77.0.20');
    expect(bench.leases.at(address)).toBeUndefined();
  });

  test('a REQUEST that names no address is met by silence', () => {
    expect(new Bench().ask(request())).toMatchObject({ kind: 'silent' });
  });
});

test('a refusal holds no address, no lease and no boot fields, and echoes relay and client alone', () => {
  const bench = new Bench();
  const nak = bench.reply(
    request(
      { serverId, requestedAddress: '192.168.0.9', vendorClass: 'PXEClient', architectures: [7] },
      { 61: '0102', 97: clients.uefi64[97], 118: '0a4d0000', 82: '0104000000050206aabbccddeeff' },
      { giaddr: '10.77.0.254' },
    ),
  );
  expect(nak).toMatchObject({ yiaddr: '0.0.0.0', siaddr: '0.0.0.0', ciaddr: '0.0.0.0', file: '' });
  expect([...nak.options.keys()].toSorted((a, b) => a - b)).toEqual([53, 54, 56, 61, 82]);
  expect([...nak.options.keys()].at(-1)).toBe(82);
  expect(nak.flags & 0x8000).toBe(0x8000);
});

describe('DECLINE, RELEASE, INFORM', () => {
  test('a declined address is not offered again for ten minutes', () => {
    const bench = new Bench();
    const address = boundClient(bench);
    bench.ask(clientMessage({ messageType: messageType.decline, serverId, requestedAddress: address }));
    expect(bench.reply(discover({ requestedAddress: address })).yiaddr).not.toBe(address);
    expect(bench.reply(discover({ requestedAddress: address }, {}, other)).yiaddr).not.toBe(address);
    bench.now += 600_000;
    expect(
      bench.reply(discover({ requestedAddress: address }, {}, { chaddr: hardware('02:00:00:00:00:03') }))
        .yiaddr,
    ).toBe(address);
  });

  test('a named machine gets what strangers hold without use: offers, and addresses that they declined', () => {
    const bench = new Bench();
    for (const n of [1, 2, 3, 4]) {
      const chaddr = hardware(`02:00:00:00:04:0${n}`);
      const requestedAddress =
        n < 3 ? boundClient(bench, { chaddr }) : bench.reply(discover({}, {}, { chaddr })).yiaddr;
      if (n < 3)
        bench.ask(clientMessage({ messageType: messageType.decline, requestedAddress }, {}, { chaddr }));
    }
    expect(bench.ask(discover({}, {}, other))).toMatchObject({ kind: 'silent', noAddress: true });
    for (const n of [1, 2, 3, 4]) {
      const mac = `02:00:00:00:05:0${n}`;
      bench.reserved.set(mac, { hostname: 'named' });
      expect(boundClient(bench, { chaddr: hardware(mac) })).toMatch(/^10\.77\.0\.10[0-3]$/);
    }
  });

  test('a stranger cannot decline what it was only offered', () => {
    const bench = new Bench();
    const { yiaddr } = bench.reply(discover());
    bench.ask(clientMessage({ messageType: messageType.decline, requestedAddress: yiaddr }));
    expect(bench.leases.at(yiaddr)?.state).toBe('offered');
  });

  test('INFORM with an address of another network is met by silence: its answer would go there', () => {
    const inform = clientMessage({ messageType: messageType.inform }, {}, { ciaddr: '198.51.100.7' });
    expect(new Bench().ask(inform).kind).toBe('silent');
  });

  test('a client cannot decline what it does not have', () => {
    const bench = new Bench();
    const address = boundClient(bench);
    bench.ask(clientMessage({ messageType: messageType.decline, requestedAddress: address }, {}, other));
    expect(bench.leases.at(address)?.state).toBe('bound');
  });

  test('a released address is free, and comes back to its client when nobody took it', () => {
    const bench = new Bench();
    bench.network = { ...network, pool: { first: '10.77.0.100', last: '10.77.0.100' } };
    const address = boundClient(bench);
    bench.ask(clientMessage({ messageType: messageType.release, serverId }, {}, { ciaddr: address }));
    expect(bench.reply(discover({}, {}, other)).yiaddr).toBe(address);
  });

  test('a client cannot release what is somebody else’s', () => {
    const bench = new Bench();
    const address = boundClient(bench);
    bench.ask(clientMessage({ messageType: messageType.release }, {}, { ciaddr: address, ...other }));
    expect(bench.leases.at(address)?.expiresAt).toBeGreaterThan(bench.now);
  });

  test('INFORM is answered without an address and without a lease', () => {
    const bench = new Bench();
    const ack = bench.reply(clientMessage({ messageType: messageType.inform }, {}, { ciaddr: '10.77.0.9' }));
    expect(ack).toMatchObject({ yiaddr: '0.0.0.0', ciaddr: '10.77.0.9' });
    expect(optionOf(ack, 'routers')).toEqual(['10.77.0.1']);
    expect(rawOption(ack, 'leaseSeconds')).toBeUndefined();
  });
});

test.each([
  ['a reply of another server', discover({}, {}, { op: 2 })],
  ['a message without a type', clientMessage({})],
  ['an OFFER', clientMessage({ messageType: messageType.offer })],
  ['a relay of a network that is not ours', discover({}, {}, { giaddr: '10.10.10.1' })],
  ['a client without any identity', discover({}, {}, { hlen: 0 })],
  [
    'one whose identifier fills more than an option',
    discover({ clientId: Buffer.alloc(256, 1) }, {}, { hlen: 0 }),
  ],
])('%s is met by silence', (_, packet) => {
  expect(new Bench().ask(packet).kind).toBe('silent');
});
