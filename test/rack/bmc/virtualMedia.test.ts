import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeBmc, fakeBmc, messageId } from '../fakes/bmc.ts';

const drive = '/redfish/v1/Systems/1/VirtualMedia/Cd';
const insert = `${drive}/Actions/VirtualMedia.InsertMedia`;
let directory: string;
let source: Server;
let base: string;
let bmc: FakeBmc;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'media-'));
  source = createServer(({ url }, answer) => {
    if (url === '/a.iso') answer.end('image bytes');
    else answer.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(source, 'listening');
  base = `http://127.0.0.1:${(source.address() as AddressInfo).port}`;
  bmc = fakeBmc({ directory });
});

afterEach(async () => {
  source.close();
  await rm(directory, { recursive: true });
});

test('an image is fetched whole before it is in the drive', async () => {
  expect((await bmc.ask('POST', insert, { Image: `${base}/a.iso` })).status).toBe(204);
  expect(await readFile(bmc.machine.medium ?? '', 'utf8')).toBe('image bytes');
  expect((await bmc.ask('GET', drive)).body).toMatchObject({
    Inserted: true,
    ImageName: 'a.iso',
    ConnectedVia: 'URI',
  });
});

test('an image can be a file of the host', async () => {
  const file = path.join(directory, 'b.iso');
  await writeFile(file, 'bytes');
  expect((await bmc.ask('POST', insert, { Image: pathToFileURL(file).href })).status).toBe(204);
  expect(await readFile(bmc.machine.medium ?? '', 'utf8')).toBe('bytes');
});

test('an ejected image is gone', async () => {
  await bmc.ask('POST', insert, { Image: `${base}/a.iso` });
  expect((await bmc.ask('POST', `${drive}/Actions/VirtualMedia.EjectMedia`)).status).toBe(204);
  expect(bmc.machine.medium).toBeUndefined();
  expect((await bmc.ask('GET', drive)).body).toMatchObject({ Inserted: false, Image: null });
});

test('an image that cannot be fetched is refused with the reason', async () => {
  const answer = await bmc.ask('POST', insert, { Image: `${base}/none.iso` });
  expect([answer.status, messageId(answer)]).toEqual([400, 'Base.1.18.GeneralError']);
  expect(JSON.stringify(answer.body)).toContain('404');
  expect(bmc.machine.medium).toBeUndefined();
});

test('an insertion without an image names what is missing', async () => {
  const answer = await bmc.ask('POST', insert, {});
  expect(messageId(answer)).toBe('Base.1.18.ActionParameterMissing');
});
