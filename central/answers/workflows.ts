import Type from 'typebox';
import { TenantId } from '#contract/images.ts';
import { Time } from '#contract/time.ts';
import { pageSchema } from '../api/cursor.ts';
import { WireError } from './error.ts';
import { Event } from './event.ts';
import { Node } from './machines.ts';

const optionalText = Type.Optional(Type.String());
const State = Type.Enum(['running', 'succeeded', 'failed', 'cancelled']);

const summary = {
  workflowId: Type.String(),
  tenantId: TenantId,
  nodeId: Type.String(),
  siteId: Type.String(),
  profileId: Type.String(),
  profileVersion: Type.Integer({ minimum: 1 }),
  state: State,
  createdBy: Type.String(),
  createdAt: Time,
  finishedAt: Type.Optional(Time),
  cancelRequestedAt: Type.Optional(Time),
  error: Type.Optional(WireError),
};

const Step = Type.Object({
  stepId: Type.String(),
  use: Type.String(),
  phase: Type.Enum(['main', 'cleanup']),
  state: Type.Enum(['pending', 'running', 'succeeded', 'failed', 'skipped', 'cancelled']),
  attempt: Type.Integer({ minimum: 0 }),
  startedAt: Type.Optional(Time),
  deadline: Type.Optional(Time),
  finishedAt: Type.Optional(Time),
  result: Type.Optional(Type.Unknown()),
  error: Type.Optional(WireError),
  operationId: optionalText,
  progress: Type.Optional(Type.Unknown()),
  /** What an operator is to do by hand before the step goes on. */
  asked: optionalText,
});

const Workflow = Type.Object({ ...summary, steps: Type.Array(Step) });

const Started = Type.Object({ workflowId: Type.String() });

export const workflows = {
  get: Workflow,
  list: pageSchema(Type.Object(summary)),
  cancel: Workflow,
  /** The cursor is always there: the next call goes on with it, or waits for more. */
  events: Type.Object({ items: Type.Array(Event), cursor: Type.String(), state: State }),
};

export const metal = {
  enroll: Node,
  confirmMac: Node,
  setBmc: Node,
  inspect: Started,
  commission: Started,
  deploy: Started,
  undeploy: Started,
  rescue: Started,
  unrescue: Started,
  retire: Started,
  power: Started,
};
