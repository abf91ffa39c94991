import { known } from '#base/known.ts';
import { canonicalMac } from '#contract/bootEntry.ts';
import type { OobInventory } from '#contract/oobInventory.ts';
import { asObject, asText, type Json, type JsonObject } from '../json.ts';
import { fact, reading, whole } from './fields.ts';

/** Redfish resources read into parts of the inventory. Each takes any JSON; what is no such part is left out. */

const GiB = 2 ** 30;
const MiB = 2 ** 20;

export function idOf(body: JsonObject): string {
  return fact(body.Id) ?? fact(body.Name) ?? asText(body['@odata.id']) ?? '';
}

/** A slot with nothing in it is a member of its collection on many BMCs. */
function isAbsent(body: JsonObject): boolean {
  return asObject(body.Status).State === 'Absent';
}

export function systemOf(system: JsonObject, secureBoot: JsonObject): OobInventory['system'] {
  const enabled = fact(secureBoot.SecureBootCurrentBoot);
  const memoryGiB = reading(asObject(system.MemorySummary).TotalSystemMemoryGiB);
  const tpms = Array.isArray(system.TrustedModules) ? system.TrustedModules : [];
  return {
    ...known({
      manufacturer: fact(system.Manufacturer),
      model: fact(system.Model),
      serial: fact(system.SerialNumber),
      uuid: fact(system.UUID)?.toLowerCase(),
      firmwareVersion: fact(system.BiosVersion),
      health: fact(asObject(system.Status).HealthRollup) ?? fact(asObject(system.Status).Health),
      secureBoot: enabled === undefined ? undefined : enabled === 'Enabled',
      memoryBytes: memoryGiB === undefined ? undefined : whole(memoryGiB * GiB),
    }),
    ...known({ power: powerOf(system.PowerState) }),
    tpms: tpms.flatMap((tpm) => fact(asObject(tpm).InterfaceType) ?? []),
  };
}

function powerOf(state: Json | undefined): 'on' | 'off' | undefined {
  if (state === 'On' || state === 'Off') return state === 'On' ? 'on' : 'off';
  return undefined;
}

export function bmcOf(manager: JsonObject): OobInventory['bmc'] {
  return known({ model: fact(manager.Model), firmwareVersion: fact(manager.FirmwareVersion) });
}

export function cpuOf(body: JsonObject): OobInventory['cpus'] {
  if (isAbsent(body) || !['CPU', undefined].includes(fact(body.ProcessorType))) return [];
  const { TotalCores, TotalThreads, MaxSpeedMHz } = body;
  const counts = { cores: whole(TotalCores), threads: whole(TotalThreads), maxSpeedMhz: whole(MaxSpeedMHz) };
  return [{ id: idOf(body), ...known({ model: fact(body.Model), ...counts }) }];
}

/** A GPU is a processor of that type (Redfish 2018.1). */
export function gpuOf(body: JsonObject): OobInventory['gpus'] {
  if (isAbsent(body) || fact(body.ProcessorType) !== 'GPU') return [];
  const { Model, Manufacturer, SerialNumber } = body;
  const facts = { model: fact(Model), manufacturer: fact(Manufacturer), serial: fact(SerialNumber) };
  return [{ id: idOf(body), ...known(facts) }];
}

export function memoryOf(body: JsonObject): OobInventory['memory'] {
  const size = whole((reading(body.CapacityMiB) ?? 0) * MiB);
  if (isAbsent(body) || size === undefined) return [];
  const { MemoryDeviceType, OperatingSpeedMhz, SerialNumber } = body;
  const facts = {
    type: fact(MemoryDeviceType),
    speedMhz: whole(OperatingSpeedMhz),
    serial: fact(SerialNumber),
  };
  return [{ id: idOf(body), sizeBytes: size, ...known(facts) }];
}

/** The address of the port itself; `MACAddress` may be one that a driver or a virtual connection was given. */
export function nicOf(body: JsonObject): OobInventory['nics'] {
  const mac = canonicalMac(fact(body.PermanentMACAddress) ?? fact(body.MACAddress) ?? '');
  if (mac === undefined || mac === '00:00:00:00:00:00') return [];
  const link = fact(body.LinkStatus);
  const linkUp = link === undefined ? undefined : link === 'LinkUp';
  return [{ id: idOf(body), mac, ...known({ speedMbps: whole(body.SpeedMbps), linkUp }) }];
}

export function diskOf(body: JsonObject): OobInventory['disks'] {
  if (isAbsent(body)) return [];
  const { Model, SerialNumber, CapacityBytes, MediaType, Protocol, Status } = body;
  return [
    {
      id: idOf(body),
      ...known({
        model: fact(Model),
        serial: fact(SerialNumber),
        sizeBytes: whole(CapacityBytes),
        mediaType: fact(MediaType),
        protocol: fact(Protocol),
        health: fact(asObject(Status).Health),
      }),
    },
  ];
}

/** A part whose version nobody knows is not worth a line. */
export function firmwareOf(body: JsonObject): OobInventory['firmware'] {
  const version = fact(body.Version);
  if (version === undefined) return [];
  const updateable = typeof body.Updateable === 'boolean' ? body.Updateable : undefined;
  return [{ id: idOf(body), version, ...known({ name: fact(body.Name), updateable }) }];
}
