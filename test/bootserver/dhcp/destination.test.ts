import { expect, test } from 'vitest';
import { replyDestination } from '#bootserver/dhcp/destination.ts';
import { Bench, network } from './bench.ts';
import { clients, discover, request } from './samples.ts';

const destinationOf = (...message: Parameters<typeof discover>) =>
  replyDestination(new Bench().reply(discover(...message)));

test('a relayed reply goes to the relay’s server port, whatever the broadcast flag says', () => {
  const reply = new Bench().reply(discover({}, clients.uefi64, { giaddr: '10.77.0.254', flags: 0x8000 }));
  expect(replyDestination(reply)).toEqual({ address: '10.77.0.254', port: 67 });
  expect(reply).toMatchObject({ giaddr: '10.77.0.254', flags: 0x8000 });
});

test.each([0, 0x8000])(
  'a client without an address is answered by broadcast (flags %i), flags kept',
  (flags) => {
    const reply = new Bench().reply(discover({}, {}, { flags }));
    expect(reply.flags).toBe(flags);
    expect(destinationOf({}, {}, { flags })).toEqual({ address: '255.255.255.255', port: 68 });
  },
);

test('a renewing client is answered at its address', () => {
  const bench = new Bench();
  // Just started: it may have lost the client's lease.
  bench.isForgetful = true;
  const reply = bench.reply(request({}, {}, { ciaddr: '10.77.0.101' }));
  expect(replyDestination(reply)).toEqual({ address: '10.77.0.101', port: 68 });
});

test('a refusal is broadcast, even to a client that gives an address', () => {
  const nak = new Bench().reply(request({ serverId: network.address }, {}, { ciaddr: '192.168.7.7' }));
  expect(replyDestination(nak)).toEqual({ address: '255.255.255.255', port: 68 });
});
