import { beforeEach, expect, test } from 'vitest';
import { Boots } from '#bootserver/boots.ts';
import type { Route } from '#bootserver/http/route.ts';
import { bootRoutes } from '#bootserver/http/routes.ts';
import type { BootEvent, MachineFacts } from '#bootserver/machine.ts';
import { steppingClock } from '../../fakes/clocks.ts';

const mac = '02:00:00:00:00:01';
const holder = '10.77.0.100';
let events: BootEvent[];
let boots: Boots;
let routes: Route[];
let asked: MachineFacts[];

beforeEach(() => {
  [events, asked] = [[], []];
  boots = new Boots((event) => events.push(event), steppingClock(1_000_000));
  const macAt = (address: string) => (address === holder ? mac : undefined);
  routes = bootRoutes({
    ...{ script: '', httpUrl: 'http://10.77.0.1', machineUrl: 'https://10.77.0.1', boots },
    files: new Map([['snponly.efi', Buffer.alloc(10)]]),
    holders: { macAt, leasedTo: macAt },
    decide: (machine) => {
      asked.push(machine);
      return { kind: 'disk' };
    },
    images: {} as never,
  });
});

async function get(path: string, from: string, query = ''): Promise<void> {
  const route = routes.find(({ pattern }) => pattern.test(path));
  await route?.answer({ method: 'GET', path, query: new URLSearchParams(query), from });
}

const fetches: [name: string, path: string, query: string][] = [
  ['script', '/ipxe', `mac=${mac}&buildarch=x86_64`],
  ['GRUB menu', `/grub/menu/${mac}/x86_64/`, ''],
];

test.each(fetches)(
  'the %s asked for in the name of a machine is no step of its boot',
  async (_, path, query) => {
    boots.discovered(mac, 'uefi-pxe');
    boots.loaderGiven(mac);
    await get(path, '10.77.0.66', query);
    expect(boots.stateOf(mac)).toEqual({ loaderGiven: true, isLooping: false });
    expect(boots.discovered(mac, 'ipxe')).toBe(false);
    expect(events).toEqual([]);
  },
);

test.each(fetches)('the machine that asks for its %s has come so far', async (_, path, query) => {
  boots.discovered(mac, 'uefi-pxe');
  await get(path, holder, query);
  expect(events).toMatchObject([{ type: 'boot.disk', mac, bootId: asked[0]?.bootId }]);
  expect(boots.discovered(mac, 'uefi-pxe')).toBe(true);
});

test('a stranger that names a machine never heard of begins no boot of it', async () => {
  await get('/ipxe', '10.77.0.66', `mac=${mac}&buildarch=x86_64`);
  expect(asked).toMatchObject([{ bootId: expect.stringMatching(/^boot_/) }]);
  expect(boots.kindOf(mac)).toBeUndefined();
  expect(boots.discovered(mac, 'uefi-pxe')).toBe(true);
});

test('a loader that is fetched without end is told once in a boot', async () => {
  boots.discovered(mac, 'uefi-http');
  for (let at = 0; at < 100; at++) await get('/ipxe/snponly.efi', holder);
  expect(events).toMatchObject([{ type: 'boot.http', text: '/ipxe/snponly.efi' }]);
});
