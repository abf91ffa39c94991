import { expect, test } from 'vitest';
import type { Log } from '#base/log.ts';
import { Boots } from '#bootserver/boots.ts';
import { clientFacts } from '#bootserver/dhcp/client.ts';
import { Journal } from '#bootserver/dhcp/journal.ts';
import type { DhcpPacket } from '#bootserver/dhcp/packet.ts';
import { steppingClock } from '../../fakes/clocks.ts';
import { Bench, network } from './bench.ts';
import { discover, hardware } from './samples.ts';

test('what a client has no room for is named in the log, once for each client and as long as it is the same', () => {
  const warnings: object[] = [];
  const ignore = () => {};
  const log = { info: ignore, debug: ignore, warn: (facts: object) => warnings.push(facts) };
  const clock = steppingClock(1_000_000);
  const journal = new Journal({ boots: new Boots(ignore, clock), log: log as unknown as Log, clock });
  const bench = new Bench();
  const ask = (packet: DhcpPacket) =>
    journal.write(packet, clientFacts(packet), bench.ask(packet), bench.view());
  const own = (...numbers: number[]) => {
    const options = numbers.map((number) => ({ number, value: Buffer.alloc(200) }));
    bench.network = { ...network, options };
  };
  const other = discover({}, {}, { chaddr: hardware('02:00:00:00:00:02') });
  own(200);
  ask(discover());
  expect(warnings).toEqual([]);
  own(200, 201, 202);
  ask(discover());
  ask(discover());
  ask(other);
  own(200, 201, 202, 203);
  ask(discover());
  expect(warnings).toMatchObject([
    { mac: '02:00:00:00:00:01', options: [202, 201] },
    { mac: '02:00:00:00:00:02', options: [202, 201] },
    { mac: '02:00:00:00:00:01', options: [203, 202, 201] },
  ]);
});
