import { rm } from 'node:fs/promises';
import Fastify from 'fastify';
import type { Closable } from '#base/shutdown.ts';
import { RailheadError, toWireError } from '#contract/errors.ts';
import { validate } from '#contract/validate.ts';
import { FaultRule } from '../bmc/faultRule.ts';
import type { Fault, FaultSwitches } from '../bmc/faultSwitches.ts';
import { faultNames, isFaultName } from '../bmc/faults.ts';
import type { BootOverride } from './bootOverride.ts';
import type { ManagedMachine } from './machine.ts';
import { isResetType, type PowerState, resetTypes } from './power.ts';

/** What a supervisor says of its machine to those who have its files. */
export interface MachineStatus {
  powerState: PowerState;
  bootOverride: BootOverride;
  faults: Fault[];
}

/**
 * The supervisor's local door, beside the BMC: an HTTP server on a Unix socket, so that the rack can be driven by hand
 * and by tests without going into its namespaces. `GET /status`, `POST /power {action}`, `PUT /faults {faults}`.
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
  app.put<{ Body: { faults?: unknown } }>('/faults', async ({ body }) => {
    faults.set(wantedFaults(body?.faults));
    return status();
  });
  app.setErrorHandler((error, _request, reply) => reply.code(500).send({ error: toWireError(error) }));
  await rm(file, { force: true });
  await app.listen({ path: file });
  return app;
}

function wantedFaults(faults: unknown): Fault[] {
  if (Array.isArray(faults)) return faults.map((fault) => (isFaultName(fault) ? fault : wantedRule(fault)));
  throw new RailheadError('INVALID_INPUT', 'faults: must be a list', { path: 'faults' });
}

function wantedRule(fault: unknown): FaultRule {
  if (typeof fault === 'object') return validate(FaultRule, fault, 'INVALID_INPUT');
  throw new RailheadError('INVALID_INPUT', `faults: ${fault} is none of ${faultNames.join(', ')}`, {
    path: 'faults',
  });
}

function wantedAction(action: unknown) {
  if (isResetType(action)) return action;
  throw new RailheadError('INVALID_INPUT', `action: must be one of ${resetTypes.join(', ')}`, {
    path: 'action',
  });
}
