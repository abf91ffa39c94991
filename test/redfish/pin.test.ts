import { describe, expect, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import { openBmc } from '#redfish/bmc.ts';
import { oldIdentity, selfSignedIdentity } from '../fakes/certificates.ts';
import { serveBmc } from '../fakes/fakeBmc.ts';
import { startBench, user } from './bmcBench.ts';

const tls12 = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const;

describe('R15: the pin', () => {
  test.each([
    ['TLS 1.3', {}],
    ['TLS 1.2, whose resumed sessions show no certificate', tls12],
  ])('right: every connection is checked and none is refused (%s)', async (_name, tls) => {
    const closing = { connection: 'close' };
    const { bmc } = await startBench({ tls }, [
      (request, fake) => {
        const answer = fake.answerRightly(request);
        return { ...answer, headers: { ...answer.headers, ...closing } };
      },
    ]);
    for (let n = 0; n < 3; n++) expect(await bmc.getPower()).toBe('off');
  });

  test('wrong: a hard stop with both fingerprints, before a byte of HTTP is sent', async () => {
    const pinned = 'ab'.repeat(32);
    const { fake, running, bmc } = await startBench({}, [], { certificateSha256: pinned });
    await expect(bmc.getPower()).rejects.toMatchObject({
      code: 'DRIVER_ERROR',
      message: expect.stringContaining(pinned),
      details: { reason: 'pin-mismatch', expected: pinned, found: running.certificateSha256 },
    });
    expect(fake.requests).toEqual([]);
  });

  test('none: the first certificate is told and pinned; another one after it is a hard stop', async () => {
    const { fake, running } = await startBench();
    const told: string[] = [];
    const bmc = openBmc({
      address: running.address,
      ...user,
      log: silentLog(),
      onPin: (pin) => told.push(pin),
    });
    expect(await bmc.getPower()).toBe('off');
    expect(told).toEqual([running.certificateSha256]);
    const port = Number(new URL(running.address).port);
    await running.close();
    const seen = fake.requests.length;
    const impostor = await serveBmc(fake, await selfSignedIdentity('impostor'), {}, port);
    try {
      await expect(bmc.getPower()).rejects.toMatchObject({ details: { reason: 'pin-mismatch' } });
      expect(fake.requests.length).toBe(seen);
      expect(told.length).toBe(1);
    } finally {
      await bmc.close();
      await impostor.close();
    }
  });
});

describe('R15: old TLS', async () => {
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;

  test('is refused by default', async () => {
    const { fake, bmc } = await startBench({ tls: old });
    await expect(bmc.getPower()).rejects.toMatchObject({
      message: expect.stringContaining('bmc.oldTls'),
      details: { reason: 'unreachable' },
      sent: false,
    });
    expect(fake.requests).toEqual([]);
  });

  const rsaOnly = { ...tls12, ...(await oldIdentity()), ciphers: 'AES256-SHA:@SECLEVEL=0' } as const;

  test('RSA key exchange (AES256-SHA) is refused by default', async () => {
    const { fake, bmc } = await startBench({ tls: rsaOnly });
    await expect(bmc.getPower()).rejects.toMatchObject({ details: { reason: 'unreachable' } });
    expect(fake.requests).toEqual([]);
  });

  test.each([
    ['TLS 1.1', old],
    ['AES256-SHA', rsaOnly],
  ])('is spoken with the one BMC that was allowed it, under its pin (%s)', async (_name, tls) => {
    const { bmc } = await startBench({ tls }, [], { oldTls: true });
    expect(await bmc.getPower()).toBe('off');
    const pinned = 'cd'.repeat(32);
    const other = await startBench({ tls }, [], { oldTls: true, certificateSha256: pinned });
    await expect(other.bmc.getPower()).rejects.toMatchObject({ details: { reason: 'pin-mismatch' } });
    expect(other.fake.requests).toEqual([]);
  });
});
