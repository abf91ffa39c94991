import type { FastifyInstance } from 'fastify';
import { collection } from './collection.ts';
import type { BmcParts } from './server.ts';

const chassis = '/redfish/v1/Chassis';
const managers = '/redfish/v1/Managers';
const system = { '@odata.id': '/redfish/v1/Systems/1' };

/** The box that the system is in and the BMC itself: what clients read to know whom they talk to. */
export function chassisAndManagerRoutes(app: FastifyInstance, { machine, record }: BmcParts): void {
  app.get(chassis, () => collection(chassis, 'Chassis', [`${chassis}/1`]));
  app.get(`${chassis}/1`, () => ({
    '@odata.id': `${chassis}/1`,
    '@odata.type': '#Chassis.v1_23_0.Chassis',
    Id: '1',
    Name: record.name,
    ChassisType: 'RackMount',
    Manufacturer: 'Railhead',
    SerialNumber: record.serial,
    PowerState: machine.powerState,
    Links: { ComputerSystems: [system], ManagedBy: [{ '@odata.id': `${managers}/1` }] },
  }));
  app.get(managers, () => collection(managers, 'Manager', [`${managers}/1`]));
  app.get(`${managers}/1`, () => ({
    '@odata.id': `${managers}/1`,
    '@odata.type': '#Manager.v1_19_0.Manager',
    Id: '1',
    Name: 'Railhead virtual BMC',
    ManagerType: 'BMC',
    FirmwareVersion: '1.0.0',
    PowerState: 'On',
    Status: { State: 'Enabled', Health: 'OK' },
    Links: { ManagerForServers: [system], ManagerForChassis: [{ '@odata.id': `${chassis}/1` }] },
  }));
}
