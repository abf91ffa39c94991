import { redfishError } from './errors.ts';
import type { FaultRule } from './faultRule.ts';

/** What a vendor's BMC says and does otherwise, laid over the rack's own, in the smallest form. */
interface Shape {
  summary: string;
  rules: readonly FaultRule[];
}

const root = '/redfish/v1';
const system = `${root}/Systems/1`;
const drive = `${system}/VirtualMedia/Cd`;
const reset = `${system}/Actions/ComputerSystem.Reset`;
const link = (path: string) => ({ '@odata.id': path });

const says = (path: string, merge: Record<string, unknown>): FaultRule => ({ method: 'GET', path, merge });
const has = (path: string, body: Record<string, unknown>): FaultRule => ({
  method: 'GET',
  path,
  status: 200,
  body: { '@odata.id': path, ...body },
});

/** The values of ResetType are in the ActionInfo only. */
const resetsByActionInfo: readonly FaultRule[] = [
  says(system, {
    Actions: {
      '#ComputerSystem.Reset': {
        'ResetType@Redfish.AllowableValues': null,
        '@Redfish.ActionInfo': `${system}/ResetActionInfo`,
      },
    },
  }),
  has(`${system}/ResetActionInfo`, {
    Parameters: [
      {
        Name: 'ResetType',
        Required: true,
        AllowableValues: ['On', 'ForceOff', 'ForceRestart', 'GracefulRestart'],
      },
    ],
  }),
];

/** A drive that is changed by PATCH alone. */
const driveWithoutActions: FaultRule = { method: 'GET', path: drive, merge: { Actions: null } };

const oem = (message: string) => ({
  body: {
    error: { code: message, message, '@Message.ExtendedInfo': [{ MessageId: message, Message: message }] },
  },
});

/** The evidence for each is in `redfish/vendors/`. */
export const shapes = {
  'as-dell': {
    summary: 'iDRAC: boot targets on the settings only; the first PATCH is 412; On conflicts once',
    rules: [
      says(root, { Vendor: 'Dell', Product: 'Integrated Dell Remote Access Controller', Oem: { Dell: {} } }),
      says(system, {
        Manufacturer: 'Dell Inc.',
        Model: 'PowerEdge R660',
        Oem: { Dell: {} },
        Boot: { 'BootSourceOverrideTarget@Redfish.AllowableValues': null },
        '@Redfish.Settings': { SettingsObject: link(`${system}/Settings`) },
      }),
      has(`${system}/Settings`, {
        Boot: {
          'BootSourceOverrideTarget@Redfish.AllowableValues': ['None', 'Pxe', 'Cd', 'Hdd', 'UefiHttp'],
        },
      }),
      { method: 'PATCH', path: system, count: 1, ...redfishError(412, 'PreconditionFailed') },
      { method: 'POST', path: reset, count: 1, ...redfishError(409, 'ActionParameterValueConflict') },
    ],
  },
  'as-ilo': {
    summary: 'iLO 5 and later: the first PATCH is refused because the firmware is in POST',
    rules: [
      says(root, {
        Vendor: 'HPE',
        Oem: { Hpe: { Manager: [{ ManagerType: 'iLO 6', ManagerFirmwareVersion: '1.56' }] } },
      }),
      says(system, {
        Manufacturer: 'HPE',
        Model: 'ProLiant DL380 Gen11',
        Oem: { Hpe: { PostState: 'InPost' } },
      }),
      {
        method: 'PATCH',
        path: system,
        count: 1,
        status: 400,
        ...oem('iLO.2.14.UnableToModifyDuringSystemPOST'),
      },
    ],
  },
  'as-ilo4': {
    summary: 'iLO 4: names no reset types, and a drive without actions',
    rules: [
      says(root, { Oem: { Hp: { Manager: [{ ManagerType: 'iLO 4', ManagerFirmwareVersion: '2.82' }] } } }),
      says(system, {
        Manufacturer: 'HP',
        Model: 'ProLiant DL380 Gen9',
        Oem: { Hp: {} },
        Actions: { '#ComputerSystem.Reset': { 'ResetType@Redfish.AllowableValues': null } },
      }),
      driveWithoutActions,
    ],
  },
  'as-supermicro': {
    summary: 'Supermicro: reset types by ActionInfo; of the first boot override only the target is kept',
    rules: [
      says(root, { Vendor: 'Supermicro', Oem: { Supermicro: {} } }),
      says(system, { Manufacturer: 'Supermicro', Model: 'SYS-1029P' }),
      ...resetsByActionInfo,
      { method: 'PATCH', path: system, stores: 'target', count: 1 },
    ],
  },
  'as-lenovo': {
    summary: 'Lenovo XCC: 428 to the first PATCH, and a drive without actions',
    rules: [
      says(root, { Vendor: 'Lenovo', Oem: { Lenovo: {} } }),
      says(system, { Manufacturer: 'Lenovo', Model: 'ThinkSystem SR650 V2', Oem: { Lenovo: {} } }),
      { method: 'PATCH', path: system, count: 1, ...redfishError(428, 'PreconditionRequired') },
      driveWithoutActions,
    ],
  },
  'as-fujitsu': {
    summary: 'Fujitsu iRMC: 428 to the first PATCH',
    rules: [
      says(root, { Vendor: 'FUJITSU', Oem: { ts_fujitsu: {} } }),
      says(system, { Manufacturer: 'FUJITSU', Model: 'PRIMERGY RX2540 M6', Oem: { ts_fujitsu: {} } }),
      { method: 'PATCH', path: system, count: 1, ...redfishError(428, 'PreconditionRequired') },
    ],
  },
  'as-openbmc': {
    summary: 'OpenBMC: the machine is on its way for a while; reset types by ActionInfo',
    rules: [
      says(root, { Vendor: 'OpenBMC', Oem: { OpenBmc: {} } }),
      says(system, { Manufacturer: null, Oem: { OpenBmc: {} } }),
      ...resetsByActionInfo,
      { method: 'GET', path: system, count: 2, merge: { PowerState: 'PoweringOff' } },
    ],
  },
  'as-ami': {
    summary:
      'AMI MegaRAC: of the first boot override only the target is kept; the system has no name for its maker',
    rules: [
      says(root, { Vendor: 'AMI', Oem: { Ami: {} } }),
      says(system, { Manufacturer: 'Example Boards', Oem: { Ami: {} } }),
      { method: 'PATCH', path: system, stores: 'target', count: 1 },
    ],
  },
  'as-nvidia': {
    summary: 'NVIDIA DGX, HGX: the GPUs’ baseboard is a second system, without boot device',
    rules: [
      says(root, { Vendor: 'NVIDIA', Oem: { Nvidia: {} } }),
      says(system, { Manufacturer: 'NVIDIA', Model: 'DGXH100' }),
      says(`${root}/Systems`, { Members: [link(`${root}/Systems/HGX_Baseboard_0`), link(system)] }),
      has(`${root}/Systems/HGX_Baseboard_0`, {
        Id: 'HGX_Baseboard_0',
        SystemType: 'Physical',
        Manufacturer: 'NVIDIA',
        PowerState: 'On',
        Processors: link(`${root}/Systems/HGX_Baseboard_0/Processors`),
      }),
      has(`${root}/Systems/HGX_Baseboard_0/Processors`, {
        Members: [link(`${root}/Systems/HGX_Baseboard_0/Processors/GPU_SXM_1`)],
      }),
      has(`${root}/Systems/HGX_Baseboard_0/Processors/GPU_SXM_1`, {
        Id: 'GPU_SXM_1',
        ProcessorType: 'GPU',
        Model: 'H100 80GB HBM3',
        Manufacturer: 'NVIDIA',
      }),
    ],
  },
} as const satisfies Record<string, Shape>;

export type ShapeName = keyof typeof shapes;
