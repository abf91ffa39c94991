import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { enrolHttpsCas, httpsCasFile } from '#rack/machine/httpsCas.ts';
import { makeTestCa } from '../../fakes/certificates.ts';

test('each CA is a signature list of its own, with sizes that hold', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'cas-'));
  const cas = [await makeTestCa('one'), await makeTestCa('another')].map(({ pem }) => pem);
  await enrolHttpsCas({ directory }, cas);
  let rest: Buffer = await readFile(httpsCasFile({ directory }));
  for (const pem of cas) {
    const der = new X509Certificate(pem).raw;
    const [whole, header, entry] = [16, 20, 24].map((at) => rest.readUInt32LE(at));
    expect([header, entry, whole]).toEqual([0, 16 + der.length, 28 + 16 + der.length]);
    expect(rest.subarray(44, whole)).toEqual(der);
    rest = rest.subarray(whole);
  }
  expect(rest).toHaveLength(0);
  await rm(directory, { recursive: true });
});
