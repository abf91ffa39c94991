import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Toolbox } from '#base/debian/toolbox.ts';
import { assembleUki } from '#base/uki.ts';
import { makeKeys, openKeys, type SecureBootKeys } from '#secureboot/keys.ts';
import { makeMedium } from '#secureboot/medium.ts';
import { checkSignable, signProgram } from '#secureboot/sign.ts';
import { mediumTools } from '#secureboot/tools.ts';
import { syntheticStub } from '../base/syntheticStub.ts';

const cacheDirectory = path.resolve('.cache/debian');
let directory: string;
let keys: SecureBootKeys;
let program: Buffer;
let tools: Toolbox;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'own-key-'));
  keys = await makeKeys(path.join(directory, 'keys'), 'Example Ltd');
  tools = await mediumTools({ cacheDirectory });
  program = await readFile(path.join(tools.root, 'usr/lib/systemd/boot/efi/systemd-bootx64.efi'));
}, 120_000);

afterAll(() => rm(directory, { recursive: true }));

test('keys are made once in a folder, and are their owner’s alone', async () => {
  await expect(makeKeys(path.join(directory, 'keys'), 'Other')).rejects.toMatchObject({ code: 'CONFLICT' });
  for (const name of ['PK', 'KEK', 'db'] as const) expect((await stat(keys.key(name))).mode & 0o77).toBe(0);
  expect((await openKeys(path.join(directory, 'keys'))).owner).toBe(keys.owner);
  await expect(openKeys(directory)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('a signed program verifies by its certificate, and not by another', async () => {
  const signer = { keyFile: keys.key('db'), certificateFile: keys.certificate('db'), cacheDirectory };
  const file = path.join(directory, 'signed.efi');
  await writeFile(file, await signProgram(program, signer));
  const verify = (certificate: string) => tools.run('usr/bin/sbverify', ['--cert', certificate, file]);
  expect(await verify(keys.certificate('db'))).toContain('Signature verification OK');
  await expect(verify(keys.certificate('KEK'))).rejects.toThrow('status 1');
});

test('what is no program cannot be signed', async () => {
  const signer = { keyFile: keys.key('db'), certificateFile: keys.certificate('db'), cacheDirectory };
  await expect(signProgram(Buffer.from('no program'), signer)).rejects.toMatchObject({
    code: 'DRIVER_ERROR',
  });
});

test('an image is signed only when it is a kernel’s and embeds its command line', () => {
  expect(() => checkSignable(Buffer.from('x'))).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
  expect(() => checkSignable(program)).toThrow('no section .linux');
  const linux = { name: '.linux', data: Buffer.from('kernel') };
  const plain = assembleUki({ stub: syntheticStub(), sections: [linux] });
  expect(() => checkSignable(plain)).toThrow('embeds no command line');
  const cmdline = { name: '.cmdline', data: Buffer.from('quiet') };
  checkSignable(assembleUki({ stub: syntheticStub(), sections: [cmdline, linux] }));
});

test('a medium has the boot loader and the three variables, each signed by the key that may change it', async () => {
  const { stick, iso } = await makeMedium({ keys, cacheDirectory, alsoTrust: [keys.certificate('KEK')] });
  const file = path.join(directory, 'stick.img');
  await writeFile(file, stick);
  const listed = await tools.run('usr/bin/mtools', ['-c', 'mdir', '-b', '-/', '-i', file, '::/']);
  for (const name of ['BOOTX64.EFI', 'loader.conf', 'PK.auth', 'KEK.auth', 'db.auth'])
    expect(listed).toContain(name);
  expect(iso.includes(stick.subarray(0, 512))).toBe(true);
});
