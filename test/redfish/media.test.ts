import { describe, expect, test } from 'vitest';
import { asObject, type JsonObject } from '#redfish/json.ts';
import { bmcError, type FakeBmc, type Fault } from '../fakes/fakeBmc.ts';
import { plainSystem, recorded, startBench } from './bmcBench.ts';

const url = 'https://images.example.com/rescue.iso';
const link = (path: string) => ({ '@odata.id': path });
const insertEnding = '/Actions/VirtualMedia.InsertMedia';

/** A drive that is empty, with the actions of the standard. */
function drive(path: string, more: JsonObject = {}): JsonObject {
  return {
    '@odata.id': path,
    MediaTypes: ['CD', 'DVD'],
    // As on real BMCs, an empty drive says so in its own way.
    Image: '',
    ConnectedVia: 'URI',
    Inserted: false,
    Actions: {
      '#VirtualMedia.InsertMedia': { target: `${path}${insertEnding}` },
      '#VirtualMedia.EjectMedia': { target: `${path}/Actions/VirtualMedia.EjectMedia` },
    },
    ...more,
  };
}

/** Puts drives into the tree below `owner`. */
function withDrives(fake: FakeBmc, owner: string, ...drives: JsonObject[]): void {
  const collection = `${owner}/VirtualMedia`;
  fake.tree[owner] = { ...fake.tree[owner], VirtualMedia: link(collection) };
  fake.tree[collection] = { Members: drives.map((one) => link(String(one['@odata.id']))) };
  for (const one of drives) fake.tree[String(one['@odata.id'])] = one;
}

/** Carries out what is posted to a drive, or changes it by PATCH. */
const drivesWork: Fault = (request, bmc) => {
  const [path = '', action] = request.path.split('/Actions/VirtualMedia.');
  const target = bmc.tree[path];
  if (target === undefined) return undefined;
  if (request.method === 'PATCH') Object.assign(target, request.body);
  else if (action === 'InsertMedia')
    Object.assign(target, { Image: request.body.Image ?? '', Inserted: true });
  else if (action === 'EjectMedia') Object.assign(target, { Image: '', Inserted: false });
  else return undefined;
  return {
    status: 204,
    headers: { 'content-type': 'application/json;odata.metadata=minimal;charset=utf-8' },
  };
};

/** Refuses an insert until every one of `fields` has been sent, naming the first that is missing. */
function demanding(...fields: string[]): Fault {
  return ({ method, path, body }) => {
    if (method !== 'POST' || !path.endsWith(insertEnding)) return undefined;
    const missing = fields.find((field) => body[field] === undefined);
    return missing === undefined
      ? undefined
      : bmcError(400, 'Base.1.12.ActionParameterMissing', 'The action lacks a parameter', {
          RelatedProperties: [`#/${missing}`],
        });
  };
}

async function benchWith(faults: Fault[] = []) {
  const bench = await startBench({ system: { ...plainSystem } }, [...faults, drivesWork]);
  withDrives(bench.fake, '/redfish/v1/Systems/1', drive('/redfish/v1/Systems/1/VirtualMedia/Cd'));
  return bench;
}
const cd = (fake: FakeBmc) => asObject(fake.tree['/redfish/v1/Systems/1/VirtualMedia/Cd']);
const inserts = (fake: FakeBmc) => fake.sent('POST', insertEnding);

test('the URL is sent and nothing more, and the drive shows it', async () => {
  const { fake, bmc } = await benchWith();
  await bmc.insertMedia(url);
  expect(inserts(fake)).toEqual([{ Image: url }]);
  expect(cd(fake)).toMatchObject({ Inserted: true, Image: url });
  await bmc.insertMedia(url);
  expect(inserts(fake)).toHaveLength(1);
});

test('another image is taken out first', async () => {
  const { fake, bmc } = await benchWith();
  Object.assign(cd(fake), { Inserted: true, Image: 'https://images.example.com/old.iso' });
  await bmc.insertMedia(url);
  expect(fake.sent('POST', 'EjectMedia')).toEqual([{}]);
  expect(cd(fake).Image).toBe(url);
});

test('an eject leaves every drive empty, and an empty one alone', async () => {
  const { fake, bmc } = await benchWith();
  await bmc.insertMedia(url);
  await bmc.ejectMedia();
  expect(cd(fake)).toMatchObject({ Inserted: false, Image: '' });
  await bmc.ejectMedia();
  expect(fake.sent('POST', 'EjectMedia')).toEqual([{}]);
});

describe('R7: where the virtual drives are', () => {
  const manager = '/redfish/v1/Managers/1';
  const system = { ...plainSystem, Links: { ManagedBy: [link(manager)] } };

  test('under the manager that the system links to, by another name', async () => {
    const { fake, bmc } = await startBench({ system }, [drivesWork]);
    withDrives(fake, manager, drive(`${manager}/VirtualMedia/2`));
    await bmc.insertMedia(url);
    expect(inserts(fake)).toEqual([{ Image: url }]);
  });

  test('under the managers alone, where the system links to none', async () => {
    const { fake, bmc } = await startBench({}, [drivesWork]);
    fake.tree['/redfish/v1'] = { ...fake.tree['/redfish/v1'], Managers: link('/redfish/v1/Managers') };
    fake.tree['/redfish/v1/Managers'] = { Members: [link(manager)] };
    withDrives(fake, manager, drive(`${manager}/VirtualMedia/CD1`));
    await bmc.insertMedia(url);
    expect(inserts(fake)).toHaveLength(1);
  });

  test('a link of the system that leads nowhere is passed over', async () => {
    const dead = { ...system, VirtualMedia: link('/redfish/v1/Systems/1/VirtualMedia') };
    const { fake, bmc } = await startBench({ system: dead }, [drivesWork]);
    withDrives(fake, manager, drive(`${manager}/VirtualMedia/1`));
    await bmc.insertMedia(url);
    expect(inserts(fake)).toHaveLength(1);
  });

  test('the drive that takes discs and has the action is chosen: DVD alone will do, a floppy will not', async () => {
    const { fake, bmc } = await startBench({}, [drivesWork]);
    const base = '/redfish/v1/Systems/1/VirtualMedia';
    withDrives(
      fake,
      '/redfish/v1/Systems/1',
      drive(`${base}/Floppy`, { MediaTypes: ['Floppy', 'USBStick'] }),
      drive(`${base}/Bare`, { Actions: {} }),
      drive(`${base}/Dvd`, { MediaTypes: ['DVD'] }),
    );
    await bmc.insertMedia(url);
    expect(fake.tree[`${base}/Dvd`]).toMatchObject({ Inserted: true });
  });

  test('none: UNSUPPORTED, and the way out is said', async () => {
    const { bmc } = await startBench();
    await expect(bmc.insertMedia(url)).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      details: { reason: 'virtual-media' },
    });
    await expect(bmc.ejectMedia()).resolves.toBeUndefined();
  });
});

describe('R14: fields refused, fields demanded, no action at all', () => {
  test.each([
    [['TransferProtocolType'], { TransferProtocolType: 'HTTPS' }],
    [['TransferMethod', 'Inserted'], { TransferMethod: 'Stream', Inserted: true }],
    [['UserName', 'Password'], { UserName: 'none', Password: 'none' }],
  ])('what a BMC demands (%j) is added, one answer at a time', async (fields, added) => {
    const { fake, bmc } = await benchWith([demanding(...fields)]);
    await bmc.insertMedia(url);
    expect(inserts(fake).at(-1)).toEqual({ Image: url, ...added });
    expect(inserts(fake)).toHaveLength(fields.length + 1);
  });

  test('a demand without a code, the name only in the text', async () => {
    const told: Fault = ({ path, body }) =>
      path.endsWith(insertEnding) && body.TransferProtocolType === undefined
        ? bmcError(400, 'Base.1.0.GeneralError', 'TransferProtocolType is required')
        : undefined;
    const { fake, bmc } = await benchWith([told]);
    await bmc.insertMedia(url);
    expect(inserts(fake).at(-1)).toEqual({ Image: url, TransferProtocolType: 'HTTPS' });
  });

  test('a BMC that never has enough is left after four writes, with its own words', async () => {
    const fields = ['TransferProtocolType', 'TransferMethod', 'Inserted', 'WriteProtected', 'UserName'];
    const { fake, bmc } = await benchWith([demanding(...fields)]);
    await expect(bmc.insertMedia(url)).rejects.toMatchObject({ code: 'DRIVER_ERROR' });
    expect(inserts(fake)).toHaveLength(4);
  });

  test('Fujitsu is told how the image is fetched from the first time on', async () => {
    const system = recorded('fujitsu/system');
    const { fake, bmc } = await startBench({ system }, [demanding('TransferProtocolType'), drivesWork]);
    withDrives(fake, '/redfish/v1/Systems/0', drive('/redfish/v1/Systems/0/VirtualMedia/0'));
    await bmc.insertMedia(url);
    expect(inserts(fake)).toEqual([{ Image: url, TransferProtocolType: 'HTTPS' }]);
  });

  test('what was demanded once is sent at once the next time', async () => {
    const { fake, bmc } = await benchWith([demanding('TransferProtocolType')]);
    await bmc.insertMedia(url);
    await bmc.ejectMedia();
    const before = inserts(fake).length;
    await bmc.insertMedia(url);
    expect(inserts(fake).slice(before)).toEqual([{ Image: url, TransferProtocolType: 'HTTPS' }]);
  });

  test('what is refused is left out (Supermicro X11, X12: Inserted)', async () => {
    const refusing: Fault = ({ method, body }) =>
      method === 'PATCH' && 'Inserted' in body && body.Image !== null
        ? bmcError(400, 'Base.1.4.PropertyNotWritable', '', { MessageArgs: ['Inserted'] })
        : undefined;
    const { fake, bmc } = await startBench({}, [refusing, drivesWork]);
    const path = '/redfish/v1/Systems/1/VirtualMedia/1';
    withDrives(fake, '/redfish/v1/Systems/1', drive(path, { Actions: {}, Inserted: null }));
    await bmc.insertMedia(url);
    expect(fake.sent('PATCH')).toEqual([{ Image: url, Inserted: true }, { Image: url }]);
  });

  test('a drive without actions is changed by PATCH, both ways', async () => {
    const { fake, bmc } = await startBench({}, [drivesWork]);
    const path = '/redfish/v1/Systems/1/VirtualMedia/1';
    withDrives(fake, '/redfish/v1/Systems/1', drive(path, { Actions: {} }));
    await bmc.insertMedia(url);
    expect(fake.sent('PATCH')).toEqual([{ Image: url, Inserted: true }]);
    await bmc.ejectMedia();
    expect(fake.sent('PATCH').at(-1)).toEqual({ Image: null, Inserted: false });
  });
});

test('a URL that the BMC cannot read is told in its words, without a second try', async () => {
  const refusing: Fault = ({ path }) =>
    path.endsWith(insertEnding) ? bmcError(400, 'Base.1.0.GeneralError', 'HTTP status 404') : undefined;
  const { fake, bmc } = await benchWith([refusing]);
  await expect(bmc.insertMedia(url)).rejects.toThrow('HTTP status 404');
  expect(inserts(fake)).toHaveLength(1);
});

describe('a BMC that is busy or loses the connection', () => {
  const once = (answer: ReturnType<Fault>): Fault => {
    const left = [answer];
    return ({ path }) => (path.endsWith(insertEnding) ? left.shift() : undefined);
  };

  test.each([
    ['503', { status: 503 }],
    ['a broken connection', 'hang up'],
  ] as const)('%s: it is asked again', async (_name, answer) => {
    const { fake, bmc } = await benchWith([once(answer)]);
    await bmc.insertMedia(url);
    expect(inserts(fake)).toHaveLength(2);
  });

  test('not when the drive shows the image', async () => {
    const acted: Fault = (request, bmc) =>
      drivesWork(request, bmc) !== undefined && request.path.endsWith(insertEnding) ? 'hang up' : undefined;
    const { fake, bmc } = await benchWith([acted]);
    await bmc.insertMedia(url);
    expect(inserts(fake)).toHaveLength(1);
  });
});

test('an image that was accepted and does not show is a failure of its own', async () => {
  const pretending: Fault = ({ path }) => (path.endsWith(insertEnding) ? { status: 204 } : undefined);
  const { bmc } = await benchWith([pretending]);
  await expect(bmc.insertMedia(url)).rejects.toMatchObject({
    code: 'DRIVER_ERROR',
    details: { reason: 'not-stored', url, found: null },
  });
});

test('an eject that is refused and has happened all the same is done', async () => {
  const muttering: Fault = (request, bmc) => {
    if (!request.path.endsWith('EjectMedia')) return undefined;
    Object.assign(cd(bmc), { Inserted: false, Image: '' });
    return bmcError(500, 'Base.1.0.InternalError');
  };
  const { fake, bmc } = await benchWith([muttering]);
  Object.assign(cd(fake), { Inserted: true, Image: url });
  await bmc.ejectMedia();
  expect(cd(fake).Inserted).toBe(false);
});
