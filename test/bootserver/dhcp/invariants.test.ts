import { array, assert, constantFrom, integer, property, record } from 'fast-check';
import { expect, test } from 'vitest';
import { messageType } from '#bootserver/dhcp/reply.ts';
import { Bench, network, optionOf } from './bench.ts';
import { clientMessage, hardware } from './samples.ts';

const step = record({
  client: integer({ min: 1, max: 6 }),
  type: constantFrom(...Object.values(messageType)),
  address: constantFrom(
    '10.77.0.100',
    '10.77.0.101',
    '10.77.0.103',
    '10.77.0.1',
    '10.77.0.20',
    '192.168.1.5',
  ),
  names: constantFrom('nothing', 'requested', 'ciaddr', 'selecting', 'other server'),
  seconds: constantFrom(0, 0, 1, 100, 700),
});

test('whatever clients send, no address is promised to two of them at a time', () => {
  assert(
    property(array(step, { maxLength: 60 }), (steps) => {
      const bench = new Bench();
      bench.reserved.set('02:00:00:00:00:06', { address: '10.77.0.103' });
      const promised = new Map<string, { client: number; until: number }>();
      for (const { client, type, address, names, seconds } of steps) {
        bench.now += seconds * 1000;
        const decision = bench.ask(
          clientMessage(
            {
              messageType: type,
              requestedAddress: names === 'requested' || names === 'selecting' ? address : undefined,
              serverId: { selecting: network.address, 'other server': '10.0.0.9' }[names as string],
            },
            {},
            {
              chaddr: hardware(`02:00:00:00:00:0${client}`),
              ciaddr: names === 'ciaddr' ? address : '0.0.0.0',
            },
          ),
        );
        if (type === messageType.release || type === messageType.decline) {
          for (const [held, { client: holder }] of promised) if (holder === client) promised.delete(held);
        }
        if (decision.kind === 'silent' || decision.what !== 'ACK' || type === messageType.inform) continue;
        const { yiaddr } = decision.reply;
        const holder = promised.get(yiaddr);
        if (holder !== undefined && holder.until > bench.now) expect(holder.client).toBe(client);
        const leaseSeconds = optionOf(decision.reply, 'leaseSeconds')!;
        promised.set(yiaddr, { client, until: bench.now + leaseSeconds * 1000 });
        expect(yiaddr).toMatch(/^10\.77\.0\.10[0-3]$/);
        if (yiaddr === '10.77.0.103') expect(client).toBe(6);
      }
    }),
    { numRuns: 500 },
  );
});
