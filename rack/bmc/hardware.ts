import type { FastifyInstance } from 'fastify';
import { collection } from './collection.ts';
import type { BmcParts } from './server.ts';

const system = '/redfish/v1/Systems/1';
const processors = `${system}/Processors`;
const memory = `${system}/Memory`;
const nics = `${system}/EthernetInterfaces`;
const storage = `${system}/Storage`;

/** Links from the system to what it is made of. */
export const hardwareLinks = {
  Processors: { '@odata.id': processors },
  Memory: { '@odata.id': memory },
  EthernetInterfaces: { '@odata.id': nics },
  Storage: { '@odata.id': storage },
};

/** What the machine is made of, on or off, as an inspection over the BMC reads it. */
export function hardwareRoutes(app: FastifyInstance, { record, machine }: BmcParts): void {
  const linkStatus = () => (machine.powerState === 'On' ? 'LinkUp' : 'LinkDown');
  one(app, processors, 'Processor', () => ({
    ProcessorType: 'CPU',
    Model: 'QEMU virtual CPU',
    TotalCores: 2,
  }));
  one(app, memory, 'Memory', () => ({ CapacityMiB: record.memoryMiB, MemoryDeviceType: 'DRAM' }));
  one(app, nics, 'EthernetInterface', () => ({ MACAddress: record.mac, LinkStatus: linkStatus() }));
  const drives = record.disks.map((_, at) => ({ '@odata.id': `${storage}/1/Drives/${at + 1}` }));
  one(app, storage, 'Storage', () => ({ Drives: drives }));
  record.disks.forEach((disk, at) => {
    const facts = { CapacityBytes: disk.sizeBytes, SerialNumber: disk.serial, MediaType: 'SSD' };
    resource(app, `${storage}/1/Drives/${at + 1}`, 'Drive', () => facts);
  });
}

/** A collection with one member. */
function one(app: FastifyInstance, path: string, kind: string, fields: () => object): void {
  app.get(path, () => collection(path, kind, [`${path}/1`]));
  resource(app, `${path}/1`, kind, fields);
}

function resource(app: FastifyInstance, path: string, kind: string, fields: () => object): void {
  app.get(path, () => ({
    '@odata.id': path,
    '@odata.type': `#${kind}.v1_0_0.${kind}`,
    Id: path.split('/').at(-1),
    Name: kind,
    Status: { State: 'Enabled', Health: 'OK' },
    ...fields(),
  }));
}
