import { expect, test } from 'vitest';
import { imagePath, useBootServer } from './bootBench.ts';
import { digest } from './samples.ts';

const bench = useBootServer();
const menu = '/grub/menu/52:54:00:77:00:41/x86_64/11223344-5566-7788-99AA-bbccddeeff00';

test.each(['/grub/grub.cfg', '/grub/x86_64-efi/grub.cfg', '/grub/arm64-efi/grub.cfg'])(
  'the first configuration is at %s',
  async (name) => {
    const { host } = new URL(bench.server.httpUrl);
    expect((await bench.get(name)).body.toString()).toContain(`(http,${host})/grub/menu/`);
  },
);

test('a machine is described to whoever decides, and boots the ramdisk by the sections of its image', async () => {
  bench.decision = { kind: 'ramdisk', digest, token: 'tok_1', kernelArguments: ['quiet'] };
  const { body } = await bench.get(menu);
  const uuid = '11223344-5566-7788-99aa-bbccddeeff00';
  expect(bench.asked).toMatchObject([
    { mac: '52:54:00:77:00:41', uuid, architecture: 'x86_64', firmware: 'uefi' },
  ]);
  expect(body.toString()).toContain(
    `${imagePath}/sections/linux' 'quiet' 'railhead.site=https://127.0.0.1:8443' 'railhead.token=tok_1' 'railhead.mac=52:54:00:77:00:41'`,
  );
  expect(bench.events).toMatchObject([{ type: 'boot.script' }]);
});

test('HEAD tells the size of whatever GET brings: GRUB asks for these many bytes', async () => {
  const { headers } = await bench.get(menu, { method: 'HEAD' });
  expect(bench.events).toEqual([]);
  bench.decision = { kind: 'ramdisk', digest, token: 'tok_1', kernelArguments: ['quiet'] };
  expect((await bench.get(menu)).headers['content-length']).toBe(headers['content-length']);
});

test('without a UUID the machine has none, and what is no machine is refused', async () => {
  expect((await bench.get('/grub/menu/52:54:00:77:00:41/arm64/')).status).toBe(200);
  expect(bench.asked[0]).not.toHaveProperty('uuid');
  expect((await bench.get('/grub/menu/x/x86_64/')).status).toBe(400);
  expect((await bench.get('/grub/menu/52:54:00:77:00:41/vax/')).status).toBe(400);
});
