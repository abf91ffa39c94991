import { readFileSync } from 'node:fs';
import type { ServerOptions } from 'node:https';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { silentLog } from '#base/log.ts';
import { type Bmc, type BmcOptions, openBmc } from '#redfish/bmc.ts';
import type { JsonObject } from '#redfish/json.ts';
import { selfSignedIdentity } from '../fakes/certificates.ts';
import { type SteppingClock, steppingClock } from '../fakes/clocks.ts';
import { FakeBmc, type Fault, type RunningBmc, serveBmc, user } from '../fakes/fakeBmc.ts';

const identity = await selfSignedIdentity();

export { user };

/** A recorded answer, in its smallest form. */
export function recorded(name: string): JsonObject {
  return JSON.parse(
    readFileSync(path.join(import.meta.dirname, '../fixtures/redfish', `${name}.json`), 'utf8'),
  );
}

/** A machine of no vendor that follows the standard. */
export const plainSystem: JsonObject = {
  '@odata.id': '/redfish/v1/Systems/1',
  UUID: '00000000-0000-0000-0000-00000000000A',
  SerialNumber: 'SN1',
  Manufacturer: 'QEMU',
  Model: 'q35',
  PowerState: 'Off',
  Boot: {
    BootSourceOverrideEnabled: 'Disabled',
    BootSourceOverrideTarget: 'None',
    BootSourceOverrideMode: 'UEFI',
    'BootSourceOverrideTarget@Redfish.AllowableValues': ['None', 'Pxe', 'UefiHttp', 'Hdd', 'Cd'],
  },
  Actions: {
    '#ComputerSystem.Reset': {
      target: '/redfish/v1/Systems/1/Actions/ComputerSystem.Reset',
      'ResetType@Redfish.AllowableValues': [
        'On',
        'ForceOff',
        'ForceRestart',
        'GracefulShutdown',
        'GracefulRestart',
        'Nmi',
      ],
    },
  },
};

export interface Bench {
  fake: FakeBmc;
  running: RunningBmc;
  bmc: Bmc;
  clock: SteppingClock;
}

/** A fake BMC with these faults and a client of it whose time passes by sleeping only. */
export async function startBench(
  { system = plainSystem, tls }: { system?: JsonObject; tls?: ServerOptions } = {},
  faults: readonly Fault[] = [],
  options: Partial<BmcOptions> = {},
): Promise<Bench> {
  const fake = new FakeBmc(system);
  fake.faults.push(...faults);
  const running = await serveBmc(fake, identity, tls);
  const clock = steppingClock();
  const { address, certificateSha256 } = running;
  const bmc = openBmc({ address, certificateSha256, ...user, log: silentLog(), clock, ...options });
  onTestFinished(async () => {
    await bmc.close();
    await running.close();
  });
  return { fake, running, bmc, clock };
}

/** The fault's answers, one per matching request; then the BMC answers rightly. */
export function atFirst(method: string, ending: string, ...answers: ReturnType<Fault>[]): Fault {
  const left = [...answers];
  return ({ method: asked, path: askedPath }) =>
    asked === method && askedPath.replace(/\/$/, '').endsWith(ending) ? left.shift() : undefined;
}

/** The same answer always. */
export function always(method: string, ending: string, answer: ReturnType<Fault>): Fault {
  return (request) =>
    request.method === method && request.path.replace(/\/$/, '').endsWith(ending) ? answer : undefined;
}
