import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { encodeMessage } from '#bootserver/dhcp6/message.ts';
import { keptServerDuid } from '#bootserver/dhcp6/serverDuid.ts';
import { association, Bench6, client, mac, optionOf, site, told, uuidDuid } from './bench.ts';

const serverId = site.duid;
const otherServer = Buffer.from('00030001020000000099', 'hex');
const otherClient = { clientId: Buffer.from('00030001020000000002', 'hex') };
const otherFrom = 'fe80::ff:fe00:2';

/** So many other clients that take an address. */
function strangers(bench: Bench6, count: number): void {
  for (let host = 2; host < 2 + count; host++) {
    const clientId = Buffer.from([0, 3, 0, 1, 2, 0, 0, 0, 0, host]);
    bench.reply(client('request', { serverId, clientId }), 'fe80::1');
  }
}

/** A client that has an address now. */
function bound(bench: Bench6): string {
  const [address = ''] = told(bench.reply(client('request', { serverId })))[0]?.split(' ') ?? [];
  return address;
}

test('SOLICIT and REQUEST: an address of the pool is offered, then given, with name servers and both identifiers', () => {
  const bench = new Bench6();
  const offer = bench.reply(client('solicit'));
  const [offered] = told(offer);
  expect(offer).toMatchObject({ type: 2, transactionId: 0xabcdef });
  expect(offered).toMatch(/^fd77::10[0-3] 600$/);
  expect(optionOf(offer, 'serverId')).toEqual(serverId);
  expect(optionOf(offer, 'clientId')).toEqual(uuidDuid);
  expect(optionOf(offer, 'dnsServers')).toEqual(['fd77::1']);
  const search = offer.options.find(({ code }) => code === 24)?.value.toString('latin1');
  expect(search).toBe('\x03lab\x07example\0');

  const [address = ''] = offered?.split(' ') ?? [];
  const given = bench.reply(client('request', { serverId, addresses: [address] }));
  expect(given.type).toBe(7);
  expect(told(given)).toEqual([offered]);
  expect(bench.leases.at(address)).toMatchObject({ state: 'bound', mac, key: `mac/${mac}` });
});

test('case 51: no reply has boot file parameters', () => {
  const reply = new Bench6().reply(client('solicit', { architectures: [7], optionRequest: [59, 60] }));
  expect(reply.options.some(({ code }) => code === 60)).toBe(false);
});

test('rapid commit: one exchange gives the address', () => {
  const bench = new Bench6();
  const reply = bench.reply(client('solicit', { rapidCommit: true }));
  expect(reply.type).toBe(7);
  expect(optionOf(reply, 'rapidCommit')).toBe(true);
  expect(bench.leases.ofClient(`mac/${mac}`)?.state).toBe('bound');
});

test('a preference is told in an ADVERTISE where one is set', () => {
  const bench = new Bench6();
  expect(optionOf(bench.reply(client('solicit')), 'preference')).toBeUndefined();
  bench.site = { ...site, preference: 255 };
  expect(optionOf(bench.reply(client('solicit')), 'preference')).toBe(255);
});

test('a machine keeps its address through firmware, iPXE and OS, whatever they call themselves', () => {
  const bench = new Bench6();
  const address = bound(bench);
  const next = bench.reply(client('request', { serverId, iaid: 99, clientId: otherClient.clientId }));
  expect(told(next)).toEqual([`${address} 600`]);
});

test('OVMF releases its first lease and asks again: it gets an address again', () => {
  const bench = new Bench6();
  const address = bound(bench);
  const released = bench.reply(client('release', { serverId, addresses: [address] }));
  expect(optionOf(released, 'status')?.code).toBe(0);
  expect(bench.leases.at(address)?.expiresAt).toBe(bench.now);
  expect(told(bench.reply(client('solicit', { iaid: 8 })))).toEqual([`${address} 600`]);
});

test('a RELEASE of an earlier stage does not take the address of a later one', () => {
  const bench = new Bench6();
  const address = bound(bench);
  bench.reply(client('request', { serverId, iaid: 99 }));
  const released = bench.reply(client('release', { serverId, addresses: [address] }));
  expect(told(released)).toEqual(['status 3']);
  expect(bench.leases.at(address)?.expiresAt).toBeGreaterThan(bench.now);
});

test('two associations in one message get two addresses, and the pool’s end is told for each', () => {
  const bench = new Bench6();
  const more = [2, 3, 4, 5].map((iaid) => ({ code: 3, value: association(iaid) }));
  const answers = told(bench.reply(client('request', { serverId, iaid: 1 }, more)));
  expect(new Set(answers.slice(0, 4)).size).toBe(4);
  expect(answers[4]).toBe('status 2');
  const decision = bench.ask(encodeMessage(client('solicit', otherClient)), otherFrom);
  expect(decision).toMatchObject({ noAddress: true });
});

test('a reservation is kept for its machine', () => {
  const bench = new Bench6();
  bench.reserved.set(mac, 'fd77::103');
  strangers(bench, 3);
  expect(bench.leases.at('fd77::103')).toBeUndefined();
  expect(told(bench.reply(client('request', { serverId })))).toEqual(['fd77::103 600']);
});

test('an address of another link is refused as that', () => {
  const reply = new Bench6().reply(client('request', { serverId, addresses: ['fd99::5'] }));
  expect(told(reply)).toEqual(['status 4']);
});

test('CONFIRM: addresses of this link are right, others are not, and none gets no answer', () => {
  const bench = new Bench6();
  const status = (addresses: string[]) =>
    optionOf(bench.reply(client('confirm', { addresses })), 'status')?.code;
  expect(status(['fd77::150'])).toBe(0);
  expect(status(['fd77::150', 'fd99::5'])).toBe(4);
  expect(bench.silence(client('confirm'))).toContain('without an address');
});

test('RENEW and REBIND extend a lease, also one that the database lost', () => {
  const bench = new Bench6();
  const address = bound(bench);
  bench.now += 300_000;
  expect(told(bench.reply(client('renew', { serverId, addresses: [address] })))).toEqual([`${address} 600`]);
  expect(told(bench.reply(client('rebind', { addresses: [address] })))).toEqual([`${address} 600`]);
  expect(told(new Bench6().reply(client('renew', { serverId, addresses: [address] })))).toEqual([
    `${address} 600`,
  ]);
});

test('RENEW of an address that is another’s: that one ends, the client’s own comes with it', () => {
  const bench = new Bench6();
  const address = bound(bench);
  const other = bench.reply(client('request', { serverId, ...otherClient }), otherFrom);
  const [own] = told(other);
  const renewed = bench.reply(client('renew', { serverId, ...otherClient, addresses: [address] }), otherFrom);
  expect(told(renewed)).toEqual([own, `${address} 0`]);
});

test('RENEW by a client of whom nothing is known says so, REBIND leaves that to whoever knows', () => {
  const bench = new Bench6();
  expect(told(bench.reply(client('renew', { serverId, addresses: ['fd99::5'] })))).toEqual(['status 3']);
  expect(bench.silence(client('rebind', { addresses: ['fd99::5'] }))).toContain('no lease');
});

test('a declined address is given to nobody for a while', () => {
  const bench = new Bench6();
  const address = bound(bench);
  bench.reply(client('decline', { serverId, addresses: [address] }));
  expect(bench.leases.at(address)?.state).toBe('declined');
  expect(told(bench.reply(client('request', { serverId, addresses: [address] })))[0]).not.toContain(address);
});

test('INFORMATION-REQUEST is answered without an address, with what the client boots', () => {
  const reply = new Bench6().reply(client('informationRequest', { architectures: [7] }));
  expect(told(reply)).toEqual([]);
  expect(optionOf(reply, 'bootFileUrl')).toContain('snponly.efi');
});

test('a wish for a prefix is answered with that there are none', () => {
  const reply = new Bench6().reply(client('solicit', { iaPd: association(5) }));
  const [prefix] = reply.options.filter(({ code }) => code === 25);
  expect(prefix?.value.toString('hex')).toMatch(/^00000005.{16}000d.{4}0006/);
});

test.each([
  ['a REQUEST for another server', client('request', { serverId: otherServer })],
  ['a REQUEST that names none', client('request')],
  ['a SOLICIT that names one', client('solicit', { serverId })],
  ['a SOLICIT without a client identifier', client('solicit', { clientId: undefined })],
  ['a REPLY', client('reply')],
  ['an INFORMATION-REQUEST for an address', client('informationRequest', { iaNa: association(1) })],
])('%s gets no answer', (_, message) => {
  expect(new Bench6().silence(message)).not.toBe('');
});

test('leases and the server’s identifier outlive a restart, an offer does not', () => {
  const database = new Database(':memory:');
  const duid = keptServerDuid(database);
  const before = new Bench6(database);
  const address = bound(before);
  before.reply(client('solicit', otherClient), otherFrom);
  const after = new Bench6(database);
  expect(after.leases.ofClient(`mac/${mac}`)).toMatchObject({ address, state: 'bound', iaid: 7 });
  expect(after.leases.macAt(address)).toBe(mac);
  expect(after.leases.ofClient('mac/02:00:00:00:00:02')).toBeUndefined();
  expect(keptServerDuid(database)).toEqual(duid);
});

test('an expired address is its client’s again while nobody needed it, and another’s when the pool is full', () => {
  const bench = new Bench6();
  const address = bound(bench);
  bench.now += 601_000;
  expect(told(bench.reply(client('request', { serverId })))).toEqual([`${address} 600`]);
  bench.now += 601_000;
  strangers(bench, 4);
  expect(bench.leases.at(address)).toMatchObject({ state: 'bound', key: expect.not.stringContaining(mac) });
});

test('addresses that a stranger gets in the name of a machine are not the machine’s', () => {
  const bench = new Bench6();
  const own = bound(bench);
  const clientId = Buffer.from(`00030001${mac.replaceAll(':', '')}`, 'hex');
  const several = [association(1), association(2)].map((value) => ({ code: 3, value }));
  const asked = client('request', { serverId, clientId });
  const message = { ...asked, options: [...asked.options.filter(({ code }) => code !== 3), ...several] };
  const given = told(bench.reply(message, 'fe80::1')).map((text) => text.split(' ')[0] ?? '');
  expect(given).toHaveLength(2);
  const holders = [own, ...given].map((address) => bench.leases.leasedTo(address, bench.now));
  expect(holders).toEqual([mac, undefined, undefined]);
  expect(given.map((address) => bench.leases.macAt(address))).toEqual([undefined, undefined]);
  expect(bench.leases.leasedTo(own, bench.now + 601_000)).toBeUndefined();
});
