import { expect, test } from 'vitest';
import { imagePath, mac, useBootServer } from './bootBench.ts';
import { digest } from './samples.ts';

const bench = useBootServer();
const query =
  'mac=52:54:00:77:00:41&uuid=11223344-5566-7788-99AA-bbccddeeff00&serial=S%20N1&platform=efi&buildarch=x86_64';

test('the first script names this server', async () => {
  const { status, headers, body } = await bench.get('/boot.ipxe');
  expect([status, headers['content-type'], headers['cache-control']]).toEqual([
    200,
    'text/plain; charset=utf-8',
    'no-store',
  ]);
  expect(body.toString()).toContain(`chain --replace --autofree ${bench.server.httpUrl}/ipxe?mac=`);
});

test('iPXE finds the same beside its binary, before any DHCP of its own', async () => {
  const { body } = await bench.get('/ipxe/autoexec.ipxe');
  expect(body).toEqual((await bench.get('/boot.ipxe')).body);
});

test('a machine whose entry is for a VLAN is sent there, and says so when it asks again', async () => {
  bench.decision = { kind: 'vlan', vlan: 42 };
  const script = (await bench.get(`/ipxe?${query}&vlan=`)).body.toString();
  expect(script).toContain('vcreate --tag 42 ');
  expect(script).toContain(`${bench.server.httpUrl}/boot.ipxe`);
  expect(bench.events).toMatchObject([{ type: 'boot.script', text: expect.stringContaining('VLAN 42') }]);
  expect(script).toContain(`chain --autofree ${bench.server.httpUrl}/ipxe/snponly.efi`);
  await bench.get(`/ipxe?${query}&vlan=42`);
  expect(bench.asked.map(({ vlan }) => vlan)).toEqual([undefined, 42]);
});

test.each(['x', '-1', '4.5', '42;'])('a VLAN %j is none', async (vlan) => {
  await bench.get(`/ipxe?${query}&vlan=${vlan}`);
  expect(bench.asked[0]).not.toHaveProperty('vlan');
});

test('a machine is described to whoever decides', async () => {
  await bench.get(`/ipxe?${query}`);
  expect(bench.asked).toEqual([
    {
      mac,
      leasedTo: mac,
      uuid: '11223344-5566-7788-99aa-bbccddeeff00',
      serial: 'S N1',
      architecture: 'x86_64',
      firmware: 'uefi',
      address: '127.0.0.1',
      bootId: expect.stringMatching(/^boot_/),
    },
  ]);
});

test('a HEAD of a script decides nothing', async () => {
  expect((await bench.get(`/ipxe?${query}`, { method: 'HEAD' })).status).toBe(400);
  expect(bench.asked).toEqual([]);
});

test('a machine without an entry boots its disk', async () => {
  expect((await bench.get(`/ipxe?${query}`)).body.toString()).toContain('sanboot --no-describe --drive 0x80');
  expect(bench.events).toMatchObject([{ mac: '52:54:00:77:00:41', type: 'boot.disk' }]);
});

test('a UEFI machine is told which disk was deployed, a BIOS machine cannot use it', async () => {
  const espGuid = '0b1c2d3e-4f50-8123-9abc-def012345678';
  bench.decision = { kind: 'disk', loader: { espGuid, path: '\\EFI\\BOOT\\BOOTX64.EFI' } };
  expect((await bench.get(`/ipxe?${query}`)).body.toString()).toContain(
    `--uuid ${espGuid} --filename \\EFI\\`,
  );
  expect(bench.events).toMatchObject([{ type: 'boot.disk', text: expect.stringContaining(espGuid) }]);
  const { body } = await bench.get(`/ipxe?${query.replace('platform=efi', 'platform=pcbios')}`);
  expect(body.toString()).not.toContain(espGuid);
});

test('case 28: a machine with an entry boots the ramdisk, which is told site, token and the MAC that asked', async () => {
  bench.decision = { kind: 'ramdisk', digest, token: 'tok_1', kernelArguments: ['console=ttyS0'] };
  const script = (await bench.get(`/ipxe?${query}`)).body.toString();
  expect(script).toContain(
    `${bench.server.httpUrl}${imagePath}/sections/linux initrd=initrd console=ttyS0 railhead.site=https://127.0.0.1:8443 railhead.token=tok_1 railhead.mac=52:54:00:77:00:41 `,
  );
  expect(bench.events).toMatchObject([{ type: 'boot.script', bootId: bench.asked[0]?.bootId }]);
});

test('a timeline that fails does not stop a boot', async () => {
  bench.events.push = () => {
    throw new Error('the disk is full');
  };
  expect((await bench.get(`/ipxe?${query}`)).status).toBe(200);
  Reflect.deleteProperty(bench.events, 'push');
});

test('a BIOS machine gets kernel and initrd', async () => {
  bench.decision = { kind: 'ramdisk', digest, token: 'tok_1', kernelArguments: [] };
  const script = (
    await bench.get('/ipxe?mac=52-54-00-77-00-41&platform=pcbios&buildarch=i386')
  ).body.toString();
  expect(script).toContain(`${imagePath}/sections/linux initrd=initrd`);
  expect(bench.asked[0]).toMatchObject({ firmware: 'bios', architecture: 'x86_64' });
});

test.each(['riscv64', 'constructor', '__proto__', ''])(
  'a machine of architecture %j, without a ramdisk, boots its disk, and nobody is asked',
  async (buildarch) => {
    const { body } = await bench.get(`/ipxe?mac=52:54:00:77:00:41&platform=efi&buildarch=${buildarch}`);
    expect(body.toString()).toContain('sanboot');
    expect(bench.asked).toEqual([]);
  },
);

test.each(['', 'mac=', 'mac=zz', 'mac=52:54:00:77:00:41%0Ashell'])('%j names no machine', async (text) => {
  const { status, body } = await bench.get(`/ipxe?${text}`);
  expect(status).toBe(400);
  expect(JSON.parse(body.toString()).error).toMatchObject({
    code: 'INVALID_INPUT',
    details: { path: 'mac' },
  });
});

test('nothing that a client sends shows up in its script', async () => {
  bench.decision = { kind: 'ramdisk', digest, token: 'tok_1', kernelArguments: [] };
  const evil = encodeURIComponent('\nshell\n$' + '{x}');
  const { body } = await bench.get(
    `/ipxe?mac=52:54:00:77:00:41&platform=efi&buildarch=x86_64&uuid=${evil}&serial=${evil}`,
  );
  expect(body.toString()).not.toContain('shell');
});

test('a token that could not stand in a script is a failure of ours', async () => {
  bench.decision = { kind: 'ramdisk', digest, token: 'a b', kernelArguments: [] };
  expect((await bench.get(`/ipxe?${query}`)).status).toBe(500);
});
