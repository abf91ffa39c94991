import type { FastifyInstance } from 'fastify';
import { silentLog } from '#base/log.ts';
import { RailheadError } from '#contract/errors.ts';
import { type Fault, FaultSwitches } from '#rack/bmc/faultSwitches.ts';
import { bmcApplication } from '#rack/bmc/server.ts';
import { noOverride } from '#rack/machine/bootOverride.ts';
import type { ManagedMachine } from '#rack/machine/machine.ts';
import type { PowerState, ResetType } from '#rack/machine/power.ts';
import type { MachineRecord } from '#rack/record.ts';
import { machineRecord } from './records.ts';

/** A machine that notes what its BMC asks of it. */
export class FakeMachine implements ManagedMachine {
  bootOverride = noOverride;
  powerState: PowerState = 'Off';
  readonly actions: ResetType[] = [];
  medium: string | undefined;
  failure: Error | undefined;

  async power(action: ResetType): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    this.actions.push(action);
    this.powerState = action === 'ForceOff' ? 'Off' : 'On';
  }

  async changeMedium(file: string | undefined): Promise<void> {
    this.medium = file;
  }
}

export const poweredOff = new RailheadError('INVALID_STATE', 'the machine is off');

export interface FakeBmc {
  app: FastifyInstance;
  machine: FakeMachine;
  record: MachineRecord;
  faults: FaultSwitches;
  /** A request with the account's Basic credentials. */
  ask(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object): Promise<Answer>;
}

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely
  body: any;
  headers: Record<string, unknown>;
}

/** A BMC in front of a fake machine, asked without sockets. */
export function fakeBmc(machineFields: Partial<MachineRecord> & { faults?: Fault[] } = {}): FakeBmc {
  const { directory, ...fields } = machineFields;
  const record = { ...machineRecord(fields), ...(directory === undefined ? {} : { directory }) };
  const machine = new FakeMachine();
  const faults = new FaultSwitches(record.faults);
  const app = bmcApplication({ machine, record, faults, log: silentLog() });
  const { username, password } = record.bmc;
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const ask: FakeBmc['ask'] = async (method, url, payload) =>
    answer(await app.inject({ method, url, headers: { authorization }, ...(payload && { payload }) }));
  return { app, machine, record, faults, ask };
}

export function answer(response: {
  statusCode: number;
  body: string;
  headers: Record<string, unknown>;
}): Answer {
  const body = response.body === '' ? undefined : JSON.parse(response.body);
  return { status: response.statusCode, body, headers: response.headers };
}

/** The MessageId of a Redfish error. */
export function messageId({ body }: Answer): string {
  return body.error['@Message.ExtendedInfo'][0].MessageId;
}
