import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OobInventory } from '#contract/oobInventory.ts';
import { validate } from '#contract/validate.ts';
import {
  bmcOf,
  cpuOf,
  diskOf,
  firmwareOf,
  gpuOf,
  memoryOf,
  nicOf,
  systemOf,
} from '#redfish/inspect/parts.ts';
import { sensorsOf, subsystemSensorsOf } from '#redfish/inspect/sensors.ts';
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
  fake.tree['/redfish/v1'] = {
    ...fake.tree['/redfish/v1'],
    UpdateService: link('/redfish/v1/UpdateService'),
  };
  fake.tree['/redfish/v1/UpdateService'] = {
    FirmwareInventory: link('/redfish/v1/UpdateService/FirmwareInventory'),
  };
  collection(
    fake,
    '/redfish/v1/UpdateService/FirmwareInventory',
    { Name: 'NIC.Slot.1', Version: '22.31.6', Updateable: true },
    { Name: 'Backplane', Version: 'N/A' },
  );

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
    firmware: [{ id: '0', name: 'NIC.Slot.1', version: '22.31.6', updateable: true }],
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

describe('where newer and older BMCs have it instead', () => {
  const chassis = '/redfish/v1/Chassis/1';
  const bare = { ...plainSystem, Links: { Chassis: [link(chassis)] } };

  test('sensors of ThermalSubsystem and EnvironmentMetrics', async () => {
    const { fake, bmc } = await startBench({ system: bare });
    fake.tree[chassis] = { ThermalSubsystem: link(`${chassis}/T`), EnvironmentMetrics: link(`${chassis}/E`) };
    fake.tree[`${chassis}/T`] = { ThermalMetrics: link(`${chassis}/T/M`), Fans: link(`${chassis}/T/Fans`) };
    fake.tree[`${chassis}/T/M`] = { TemperatureReadingsCelsius: [{ DeviceName: 'CPU1', Reading: 43.5 }] };
    collection(fake, `${chassis}/T/Fans`, { Name: 'FAN_1', SpeedPercent: { Reading: 40, SpeedRPM: 8000 } });
    fake.tree[`${chassis}/E`] = { PowerWatts: { Reading: 410 } };
    expect((await bmc.inspect()).sensors).toEqual({
      temperatures: [{ name: 'CPU1', celsius: 43.5 }],
      fans: [{ name: 'FAN_1', rpm: 8000, percent: 40 }],
      powerWatts: 410,
    });
  });

  test('NICs of the chassis’ network adapters', async () => {
    const { fake, bmc } = await startBench({ system: bare });
    fake.tree[chassis] = { NetworkAdapters: link(`${chassis}/NetworkAdapters`) };
    collection(fake, `${chassis}/NetworkAdapters`, { NetworkDeviceFunctions: link(`${chassis}/F`) });
    collection(fake, `${chassis}/F`, { Ethernet: { PermanentMACAddress: 'AA-BB-CC-00-00-07' } });
    expect((await bmc.inspect()).nics).toEqual([{ id: '0', mac: 'aa:bb:cc:00:00:07' }]);
  });

  test('disks of SimpleStorage', async () => {
    const { fake, bmc } = await startBench({
      system: { ...bare, SimpleStorage: link(`${base}/SimpleStorage`) },
    });
    collection(fake, `${base}/SimpleStorage`, {
      Devices: [{ Name: 'SATA Disk 1', Model: 'X', CapacityBytes: 512 }],
    });
    expect((await bmc.inspect()).disks).toEqual([{ id: 'SATA Disk 1', model: 'X', sizeBytes: 512 }]);
  });
});

describe('NVIDIA', () => {
  const board = '/redfish/v1/Systems/HGX_Baseboard_0';

  async function dgx(PowerState: string) {
    const bench = await startBench({ system: { ...plainSystem, Manufacturer: 'NVIDIA', PowerState } });
    const { fake } = bench;
    fake.tree['/redfish/v1/Systems'] = { Members: [link(board), link(fake.systemPath)] };
    fake.tree[board] = { SystemType: 'Physical', PowerState: 'On', Processors: link(`${board}/Processors`) };
    collection(fake, `${board}/Processors`, { ProcessorType: 'GPU', Model: 'H100' });
    return bench;
  }

  test('the GPUs of a baseboard that is a second system are found there, while the machine is on', async () => {
    const { bmc } = await dgx('On');
    expect((await bmc.inspect()).gpus).toEqual([{ id: '0', model: 'H100' }]);
  });

  test('while it is off the baseboard, which is 503 then, is left alone', async () => {
    const { fake, bmc } = await dgx('Off');
    expect((await bmc.inspect()).gpus).toEqual([]);
    expect(await bmc.getPower()).toBe('off');
    expect(fake.requests.filter((one) => one.path.startsWith(board))).toEqual([]);
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
      subsystemSensorsOf(body, [other as JsonObject], body);
      validate(OobInventory, {
        system: systemOf(body, other as JsonObject),
        bmc: bmcOf(body),
        cpus: cpuOf(body),
        gpus: gpuOf(body),
        memory: memoryOf(body),
        nics: nicOf(body),
        disks: diskOf(body),
        firmware: firmwareOf(body),
        sensors: sensorsOf(body, other as JsonObject),
        notes: [],
      });
    }),
  );
});
