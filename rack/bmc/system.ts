import type { FastifyInstance } from 'fastify';
import { hasCode } from '#contract/errors.ts';
import { firmware } from '../machine/firmware.ts';
import { isResetType, resetTypes } from '../machine/power.ts';
import { bootProperties, patchedOverride } from './bootProperties.ts';
import { collection } from './collection.ts';
import { RedfishError } from './errors.ts';
import type { FaultRule } from './faultRule.ts';
import { keptOverride } from './faultSwitches.ts';
import { hardwareLinks } from './hardware.ts';
import { logServices } from './logRoutes.ts';
import type { BmcParts } from './server.ts';
import { rulesFor } from './spoil.ts';

const systems = '/redfish/v1/Systems';
const system = `${systems}/1`;
const secureBoot = `${system}/SecureBoot`;
const reset = `${system}/Actions/ComputerSystem.Reset`;

/** The computer system: its power and what it boots next. */
export function systemRoutes(app: FastifyInstance, parts: BmcParts): void {
  app.get(systems, () => collection(systems, 'ComputerSystem', [system]));
  app.get(system, () => systemResource(parts));
  app.get(secureBoot, () => secureBootResource(parts));
  app.patch<{ Body: unknown }>(system, async (request) => {
    patchSystem(parts, request.body, rulesFor(request));
    return systemResource(parts);
  });
  app.post<{ Body: unknown }>(reset, async ({ body }, reply) => {
    await resetSystem(parts, body);
    return reply.code(204).send();
  });
}

function systemResource({ machine, record }: BmcParts): Record<string, unknown> {
  return {
    '@odata.id': system,
    '@odata.type': '#ComputerSystem.v1_20_0.ComputerSystem',
    Id: '1',
    Name: record.name,
    SystemType: 'Physical',
    Manufacturer: 'Railhead',
    Model: 'Virtual machine',
    SerialNumber: record.serial,
    UUID: record.uuid,
    PowerState: machine.powerState,
    Status: { State: machine.powerState === 'On' ? 'Enabled' : 'StandbyOffline', Health: 'OK' },
    Boot: bootProperties(machine.bootOverride, record.firmware),
    MemorySummary: { TotalSystemMemoryGiB: record.memoryMiB / 1024 },
    ...hardwareLinks,
    ...(hasSecureBoot(record) && { SecureBoot: { '@odata.id': secureBoot } }),
    LogServices: { '@odata.id': logServices },
    VirtualMedia: { '@odata.id': `${system}/VirtualMedia` },
    Links: {
      Chassis: [{ '@odata.id': '/redfish/v1/Chassis/1' }],
      ManagedBy: [{ '@odata.id': '/redfish/v1/Managers/1' }],
    },
    Actions: {
      '#ComputerSystem.Reset': { target: reset, 'ResetType@Redfish.AllowableValues': resetTypes },
    },
  };
}

function hasSecureBoot({ firmware: name }: BmcParts['record']): boolean {
  return firmware(name).secureBoot === true;
}

function secureBootResource({ record }: BmcParts): Record<string, unknown> {
  if (!hasSecureBoot(record)) throw new RedfishError(404, 'ResourceMissingAtURI', { args: [secureBoot] });
  return {
    '@odata.id': secureBoot,
    '@odata.type': '#SecureBoot.v1_1_0.SecureBoot',
    Id: 'SecureBoot',
    Name: 'UEFI Secure Boot',
    SecureBootEnable: true,
    SecureBootCurrentBoot: 'Enabled',
    SecureBootMode: 'UserMode',
  };
}

function patchSystem({ machine, record }: BmcParts, body: unknown, rules: readonly FaultRule[]): void {
  const { Boot, ...others } = (body ?? {}) as Record<string, unknown>;
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined) {
    throw new RedfishError(400, 'PropertyNotWritable', { args: [unknown], properties: [unknown] });
  }
  if (Boot === undefined) return;
  const sent = patchedOverride(machine.bootOverride, Boot, record.firmware);
  machine.bootOverride = keptOverride(rules, sent, machine.bootOverride);
}

async function resetSystem({ machine }: BmcParts, body: unknown): Promise<void> {
  const { ResetType } = (body ?? {}) as Record<string, unknown>;
  if (ResetType === undefined) {
    throw new RedfishError(400, 'ActionParameterMissing', { args: ['Reset', 'ResetType'] });
  }
  if (!isResetType(ResetType)) {
    throw new RedfishError(400, 'ActionParameterValueNotInList', {
      args: [String(ResetType), 'ResetType', 'Reset'],
      properties: ['ResetType'],
    });
  }
  try {
    await machine.power(ResetType);
  } catch (error) {
    if (hasCode(error, 'INVALID_STATE')) throw new RedfishError(409, 'ResourceInStandby');
    throw error;
  }
}
