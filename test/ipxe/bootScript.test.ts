import { expect, test } from 'vitest';
import { bootScript } from '#ipxe/bootScript.ts';
import { type IpxeWorld, runScript } from './interpreter.ts';

const site = '10.77.0.1';
const script = bootScript(`http://${site}:8080`, site);
const run = (world: IpxeWorld) => runScript(script, world);
const macOf = (url: string) => new URL(url.startsWith('http') ? url : 'http://none').searchParams.get('mac');

const first = { mac: '52:54:00:00:00:0a' };
const second = { mac: '52:54:00:00:00:0b' };
const lease = (server: string) => ({ ip: '10.77.0.100', 'dhcp-server': server });

test('case 28: the interface that has its lease from us asks, by its own MAC, though it is not the first', () => {
  const { did, end } = run({
    interfaces: { net0: { ...first, ...lease('192.0.2.1') }, net1: { ...second, ...lease(site) } },
    chain: () => true,
  });
  expect(macOf(end)).toBe(second.mac);
  expect(did.filter((each) => each.startsWith('asks'))).toHaveLength(1);
});

test('beside another DHCP server each interface with an address asks', () => {
  const { end } = run({
    interfaces: { net0: { ...first, ...lease('192.0.2.1') }, net1: { ...second, ...lease('192.0.2.1') } },
    chain: (_url, open) => open.includes('net1') && !open.includes('net0'),
  });
  expect(macOf(end)).toBe(second.mac);
});

test('without a lease each interface asks for one in turn, as ours', () => {
  const { did, end } = run({
    interfaces: { net0: { ...first }, net1: { ...second } },
    dhcp: (name) => (name === 'net1' ? lease(site) : undefined),
    chain: () => true,
  });
  expect(did.filter((each) => each.startsWith('dhcp'))).toEqual([
    'dhcp net0 as railhead-ipxe',
    'dhcp net1 as railhead-ipxe',
  ]);
  expect(macOf(end)).toBe(second.mac);
});

test('a site that is away for a while is waited for', () => {
  let asked = 0;
  const { did, end } = run({
    interfaces: { net0: { ...first, ...lease(site) } },
    chain: () => ++asked > 5,
  });
  expect(did.filter((each) => each.startsWith('waits'))).toEqual(
    [1, 2, 3, 4, 5].map((each) => `waits ${each}`),
  );
  expect(macOf(end)).toBe(first.mac);
});

test('in the end the firmware goes on: every interface was tried, and no class of ours is left', () => {
  const classes: (string | undefined)[] = [];
  const opened = new Set<string>();
  const { did, end } = run({
    interfaces: {
      net0: { ...first, ...lease(site) },
      net1: { ...second, ...lease('192.0.2.1') },
    },
    chain: (_url, open) => {
      opened.add(open.join());
      return false;
    },
    dhcp: (_name, userClass) => {
      classes.push(userClass);
      return undefined;
    },
  });
  expect(end).toBe('exit 1');
  expect(classes).toEqual(['railhead-ipxe', 'railhead-ipxe']);
  const waited = did.flatMap((each) => (each.startsWith('waits') ? [Number(each.split(' ')[1])] : []));
  expect(waited.reduce((sum, seconds) => sum + seconds, 0)).toBe(105 + 3);
  expect([...opened]).toEqual(['net0', 'net1']);
});

test('in a VLAN only that interface is meant, and the site hears of it', () => {
  const { end } = runScript(
    script.replace('#!ipxe', '#!ipxe\nset vlan-tag:int32 42\nset vlan-suffix:string -42'),
    {
      interfaces: {
        net0: { ...first, ...lease(site) },
        'net0-42': { ...first, ...lease(site), ip: '10.80.42.9' },
      },
      chain: (_url, open) => open.join() === 'net0-42',
    },
  );
  expect(new URL(end).searchParams.get('vlan')).toBe('42');
  expect(new URL(end).searchParams.get('ip')).toBe('10.80.42.9');
});

test('it says who serves, what runs, and what happens', () => {
  const { did } = run({ interfaces: { net0: { ...first, ...lease(site) } }, chain: () => true });
  expect(did[0]).toContain(`says railhead: site ${site}, iPXE`);
  expect(did).toContainEqual(`says railhead: net0 ${first.mac} at 10.77.0.100 asks for its script`);
});
