import { assert, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { arpTable } from '#bootserver/dhcp/arpTable.ts';
import { Probes } from '#bootserver/dhcp/probes.ts';

const proc = `IP address       HW type     Flags       HW address            Mask     Device
10.77.0.100      0x1         0x2         02:00:00:00:00:AA     *        prov
10.77.0.101      0x1         0x0         00:00:00:00:00:00     *        prov
10.77.0.102      0x1         0x2         02:00:00:00:00:bb     *        mgmt
`;

test('the neighbours of one interface are those that answered there', () => {
  expect([...arpTable(proc, 'prov')]).toEqual([['10.77.0.100', '02:00:00:00:00:aa']]);
});

test('no text is too odd for the table', () => {
  assert(property(string(), (text) => arpTable(`header\n${text}`, 'prov').size >= 0));
});

const address = '10.77.0.100';
const host = '02:00:00:00:00:aa';

/** A network whose time passes by `pass`, and whose kernel table is `neighbours`. */
function laboratory() {
  const neighbours = new Map<string, string>();
  const asked: string[] = [];
  const found: string[] = [];
  const sleeping = new Set<{ until: number; wake: () => void }>();
  let now = 0;
  const probes = new Probes({
    ask: (one) => void asked.push(one),
    table: () => new Map(neighbours),
    onHost: (one, mac) => void found.push(`${one} ${mac}`),
    clock: {
      now: () => now,
      sleep: (ms) => new Promise((wake) => sleeping.add({ until: now + ms, wake })),
    },
  });
  const pass = async (ms: number) => {
    now += ms;
    for (const one of sleeping) {
      if (one.until > now) continue;
      sleeping.delete(one);
      one.wake();
    }
    await new Promise(setImmediate);
  };
  return { probes, neighbours, asked, found, pass };
}

test('an address is free when nobody answered within a second', async () => {
  const { probes, asked, found, pass } = laboratory();
  probes.begin([address]);
  expect([asked, probes.unanswered()]).toEqual([[address], []]);
  await pass(1000);
  expect([probes.unanswered(), probes.hostAt(address), found]).toEqual([[address], undefined, []]);
});

test('a host that answers is known at once, and told when the probe ends', async () => {
  const { probes, neighbours, found, pass } = laboratory();
  probes.begin([address]);
  neighbours.set(address, host);
  expect(probes.hostAt(address)).toBe(host);
  await pass(1000);
  expect([probes.hostAt(address), probes.unanswered(), found]).toEqual([host, [], [`${address} ${host}`]]);
});

test('a neighbour that the kernel remembers counts only when it answers anew', async () => {
  const { probes, neighbours, pass } = laboratory();
  neighbours.set(address, host);
  probes.begin([address]);
  await pass(8000);
  expect(probes.hostAt(address)).toBeUndefined();
  neighbours.delete(address);
  await pass(1000);
  expect(probes.unanswered()).toEqual([address]);
});

test('one that does answer anew is a host', async () => {
  const { probes, neighbours, pass } = laboratory();
  neighbours.set(address, host);
  probes.begin([address]);
  await pass(9000);
  expect(probes.hostAt(address)).toBe(host);
});

test('a host is told once, and again when it is another', async () => {
  const { probes, neighbours, found, pass } = laboratory();
  const probe = async (mac: string) => {
    neighbours.delete(address);
    probes.begin([address]);
    neighbours.set(address, mac);
    await pass(1000);
    await pass(200_000);
  };
  await probe(host);
  await probe(host);
  await probe('02:00:00:00:00:bb');
  expect(found).toEqual([`${address} ${host}`, `${address} 02:00:00:00:00:bb`]);
});

test('nobody is asked twice in a minute; after two a finding counts no more', async () => {
  const { probes, asked, pass } = laboratory();
  probes.begin([address]);
  probes.begin([address]);
  await pass(1000);
  await pass(59_000);
  probes.begin([address]);
  expect(asked.length).toBe(1);
  await pass(1000);
  probes.begin([address]);
  expect(asked.length).toBe(2);
  expect(probes.unanswered()).toEqual([address]);
  await pass(130_000);
  await pass(130_000);
  expect(probes.unanswered()).toEqual([]);
});
