import type { Groups } from '#central/api/inProcess.ts';
import { type CentralOptions, startCentral } from '#central/start.ts';
import type { ComputeApi } from './api.ts';
import { combineModules, type Module } from './modules.ts';

export interface ComputeOptions
  extends Omit<CentralOptions, 'userData' | 'images' | 'configUnits' | 'profiles' | 'hardwareProfiles'> {
  modules?: readonly Module[];
}

/** A control plane in this process. */
export interface Compute {
  /** Every method of the API, called without HTTP: authorised, validated and audited alike. */
  api: ComputeApi;
  /** Base URL of the API over HTTP. */
  apiUrl: string;
  /** Base URL of the agents' listener. */
  agentsUrl: string;
  /** Ends the long polls, stops the engine between two facts, and closes everything. */
  close(): Promise<void>;
}

/**
 * Starts a control plane with what `modules` add to it.
 * @throws RailheadError INVALID_CONFIG for modules that do not go together, CONFLICT when another one runs in the directory
 */
export async function openCompute({ modules = [], ...options }: ComputeOptions): Promise<Compute> {
  const central = await startCentral({ ...options, ...combineModules(modules) });
  const { apiUrl, agentsUrl } = central;
  return { api: asApi(central.groups), apiUrl, agentsUrl, close: () => central.close() };
}

/** The groups by the types of what their methods take and answer, which the tests hold against the methods themselves. */
function asApi(groups: Groups): ComputeApi {
  return groups as unknown as ComputeApi;
}
