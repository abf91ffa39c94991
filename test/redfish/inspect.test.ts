import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OobInventory } from '#contract/oobInventory.ts';
import { validate } from '#contract/validate.ts';
import { bmcOf, cpuOf, diskOf, gpuOf, memoryOf, nicOf, sensorsOf, systemOf } from '#redfish/inspect/parts.ts';
import { asObject, type JsonObject } from '#redfish/json.ts';
import { bmcError, type FakeBmc } from '../fakes/fakeBmc.ts';
import { always, plainSystem, startBench } from './bmcBench.ts';

const link = (path: string) => ({ '@odata.id': path });
const base = '/redfish/v1/Systems/1';
const system: JsonObject = {
  ...plainSystem,
  BiosVersion: '2.19.1',
  MemorySummary: { TotalSystemMemoryGiB: 64 },
  Status: { State: 'Enabled', Health: 'OK', HealthRollup: 'Warning' },
  TrustedModules: [{ InterfaceType: 'TPM2_0' }],
  SecureBoot: link(`${base}/SecureBoot`),
  Processors: link(`${base}/Processors`),
  Memory: link(`${base}/Memory`),
  EthernetInterfaces: link(`${base}/EthernetInterfaces`),
  Storage: link(`${base}/Storage`),
  Links: { Chassis: [link('/redfish/v1/Chassis/1')], ManagedBy: [link('/redfish/v1/Managers/1')] },
};

function collection(fake: FakeBmc, path: string, ...members: JsonObject[]): void {
  fake.tree[path] = { Members: members.map((_, at) => link(`${path}/${at}`)) };
  members.forEach((body, at) => {
    fake.tree[`${path}/${at}`] = { Id: String(at), ...body };
  });
}

function furnish(fake: FakeBmc): void {
  fake.tree[`${base}/SecureBoot`] = { SecureBootCurrentBoot: 'Enabled' };
  const gpu = { ProcessorType: 'GPU', Model: 'H100', Manufacturer: 'NVIDIA' };
  const cpu = { ProcessorType: 'CPU', Model: 'Xeon', TotalCores: 32, TotalThreads: 64, MaxSpeedMHz: 4000 };
  collection(fake, `${base}/Processors`, cpu, { ProcessorType: 'CPU', Status: { State: 'Absent' } }, gpu);
  collection(fake, `${base}/Memory`, { CapacityMiB: 65_536, MemoryDeviceType: 'DDR5' }, { CapacityMiB: 0 });
  collection(
    fake,
    `${base}/EthernetInterfaces`,
    {
      MACAddress: 'AA:BB:CC:00:00:02',
      PermanentMACAddress: 'aa-bb-cc-00-00-01',
      LinkStatus: 'LinkUp',
      SpeedMbps: 25_000,
    },
    { MACAddress: '' },
  );
  collection(fake, `${base}/Storage`, { Drives: [link(`${base}/Storage/0/Drives/a`)] });
  fake.tree[`${base}/Storage/0/Drives/a`] = {
    Id: 'a',
    Model: 'PM9A3',
    CapacityBytes: 960_197_124_096,
    Protocol: 'NVMe',
  };
  fake.tree['/redfish/v1/Managers/1'] = { Model: '16G Monolithic', FirmwareVersion: '7.00' };
  fake.tree['/redfish/v1/Chassis/1'] = {
    Thermal: link('/redfish/v1/Chassis/1/Thermal'),
    Power: link('/redfish/v1/Chassis/1/Power'),
  };
  fake.tree['/redfish/v1/Chassis/1/Thermal'] = {
    Temperatures: [
      { Name: 'CPU1', ReadingCelsius: 41 },
      { Name: 'Empty', ReadingCelsius: null },
    ],
    Fans: [
      { Name: 'Fan1', Reading: 5400, ReadingUnits: 'RPM' },
      { FanName: 'Fan2', Reading: 30, ReadingUnits: 'Percent' },
    ],
  };
  fake.tree['/redfish/v1/Chassis/1/Power'] = { PowerControl: [{ PowerConsumedWatts: 312 }] };
}

test('one stable shape, with the units in the names', async () => {
  const { fake, bmc } = await startBench({ system });
  furnish(fake);
  expect(validate(OobInventory, await bmc.inspect())).toEqual({
    system: {
      manufacturer: 'QEMU',
      model: 'q35',
      serial: 'SN1',
      uuid: '00000000-0000-0000-0000-00000000000a',
      firmwareVersion: '2.19.1',
      power: 'off',
      health: 'Warning',
      secureBoot: true,
      tpms: ['TPM2_0'],
      memoryBytes: 64 * 2 ** 30,
    },
    bmc: { model: '16G Monolithic', firmwareVersion: '7.00' },
    cpus: [{ id: '0', model: 'Xeon', cores: 32, threads: 64, maxSpeedMhz: 4000 }],
    gpus: [{ id: '2', model: 'H100', manufacturer: 'NVIDIA' }],
    memory: [{ id: '0', sizeBytes: 65_536 * 2 ** 20, type: 'DDR5' }],
    nics: [{ id: '0', mac: 'aa:bb:cc:00:00:01', speedMbps: 25_000, linkUp: true }],
    disks: [{ id: 'a', model: 'PM9A3', sizeBytes: 960_197_124_096, protocol: 'NVMe' }],
    sensors: {
      temperatures: [{ name: 'CPU1', celsius: 41 }],
      fans: [
        { name: 'Fan1', rpm: 5400 },
        { name: 'Fan2', percent: 30 },
      ],
      powerWatts: 312,
    },
    notes: [],
  });
});

test('what is linked and refused costs its own part and is named', async () => {
  const { fake, bmc } = await startBench({ system }, [
    always('GET', '/Storage', bmcError(500, 'Base.1.0.InternalError', 'no controller')),
    always('GET', '/Processors', { status: 501 }),
    always('GET', '/Memory', { status: 404 }),
  ]);
  furnish(fake);
  const inventory = await bmc.inspect();
  expect(inventory).toMatchObject({ cpus: [], memory: [], disks: [], nics: [{ mac: 'aa:bb:cc:00:00:01' }] });
  expect(inventory.notes.map((note) => /HTTP (\d+) to GET \S+\/(\w+):/.exec(note)?.slice(1))).toEqual([
    ['501', 'Processors'],
    ['404', 'Memory'],
    ['500', 'Storage'],
  ]);
});

test('a BMC that has nothing but the system is told of too', async () => {
  const { bmc } = await startBench();
  expect(validate(OobInventory, await bmc.inspect())).toMatchObject({ nics: [], notes: [], bmc: {} });
});

test('a collection of several pages is read to its end, and one that never ends is left', async () => {
  const { fake, bmc } = await startBench({ system });
  furnish(fake);
  const path = `${base}/EthernetInterfaces`;
  fake.tree[path] = { ...asObject(fake.tree[path]), 'Members@odata.nextLink': `${path}/more` };
  fake.tree[`${path}/more`] = { Members: [link(`${path}/9`)], 'Members@odata.nextLink': `${path}/more` };
  fake.tree[`${path}/9`] = { Id: '9', MACAddress: 'aa:bb:cc:00:00:09' };
  const { nics } = await bmc.inspect();
  expect(nics.length).toBeLessThanOrEqual(512);
  expect(nics.some(({ mac }) => mac === 'aa:bb:cc:00:00:09')).toBe(true);
});

test('any JSON in the place of any resource is read without a fault, into the same shape', () => {
  const resource = fc.dictionary(
    fc.constantFrom(
      ...[
        'Id',
        'Name',
        'Model',
        'Status',
        'MACAddress',
        'CapacityMiB',
        'CapacityBytes',
        'ProcessorType',
        'TotalCores',
      ],
      ...[
        'Temperatures',
        'Fans',
        'PowerControl',
        'TrustedModules',
        'MemorySummary',
        'PowerState',
        'UUID',
        'Reading',
      ],
    ),
    fc.jsonValue() as fc.Arbitrary<JsonObject>,
  );
  fc.assert(
    fc.property(resource, resource, (one, other) => {
      const body = one as JsonObject;
      validate(OobInventory, {
        system: systemOf(body, other as JsonObject),
        bmc: bmcOf(body),
        cpus: cpuOf(body),
        gpus: gpuOf(body),
        memory: memoryOf(body),
        nics: nicOf(body),
        disks: diskOf(body),
        sensors: sensorsOf(body, other as JsonObject),
        notes: [],
      });
    }),
  );
});
