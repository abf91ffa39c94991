import { rm } from 'node:fs/promises';
import Fastify from 'fastify';
import type { Closable } from '#base/shutdown.ts';
import { RailheadError, toWireError } from '#contract/errors.ts';
import { type FaultName, type FaultSwitches, faultNames, isFaultName } from '../bmc/faults.ts';
import type { BootOverride } from './bootOverride.ts';
import type { ManagedMachine } from './machine.ts';
import { isResetType, type PowerState, resetTypes } from './power.ts';

/** What a supervisor says of its machine to those who have its files. */
export interface MachineStatus {
  powerState: PowerState;
  bootOverride: BootOverride;
  faults: string[];
}

/**
 * The supervisor's local door, beside the BMC: an HTTP server on a Unix socket, so that the rack can be driven by hand
 * and by tests without going into its namespaces. `GET /status`, `POST /power {action}`, `PUT /faults {names}`.
 */
export async function openControl(
  file: string,
  machine: ManagedMachine,
  faults: FaultSwitches,
): Promise<Closable> {
  const app = Fastify({ forceCloseConnections: true });
  const status = (): MachineStatus => ({
    powerState: machine.powerState,
    bootOverride: machine.bootOverride,
    faults: faults.names(),
  });
  app.get('/status', status);
  app.post<{ Body: { action?: unknown } }>('/power', async ({ body }) => {
    await machine.power(wantedAction(body?.action));
    return status();
  });
  app.put<{ Body: { names?: unknown } }>('/faults', async ({ body }) => {
    faults.set(wantedFaults(body?.names));
    return status();
  });
  app.setErrorHandler((error, _request, reply) => reply.code(500).send({ error: toWireError(error) }));
  await rm(file, { force: true });
  await app.listen({ path: file });
  return app;
}

function wantedFaults(names: unknown): FaultName[] {
  if (Array.isArray(names) && names.every(isFaultName)) return names;
  throw new RailheadError('INVALID_INPUT', `names: must be a list of ${faultNames.join(', ')}`, {
    path: 'names',
  });
}

function wantedAction(action: unknown) {
  if (isResetType(action)) return action;
  throw new RailheadError('INVALID_INPUT', `action: must be one of ${resetTypes.join(', ')}`, {
    path: 'action',
  });
}
