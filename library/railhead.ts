/** `railhead`: a control plane in one's own process. */

export type { HardwareProfile } from '#central/metal/driverBindings.ts';
export { resolveDriverBindings } from '#central/metal/driverBindings.ts';
export { type ErrorCode, type ErrorDetails, RailheadError } from '#contract/errors.ts';
export type { AnyCall, ApiCall, ComputeApi, Credential } from './api.ts';
export { type Compute, type ComputeOptions, openCompute } from './compute.ts';
export { createToken, type Host } from './host.ts';
export { type MetalSettings, type Module, metal } from './modules.ts';
