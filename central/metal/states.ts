import { RailheadError, type WireError } from '#contract/errors.ts';

/** What a node is, or is being made. Those in the second line last as long as a workflow; `rescue` is both. */
export type NodeState =
  | 'enrolled'
  | 'ready'
  | 'active'
  | 'rescue'
  | 'retired'
  | 'failed'
  | 'enrolling'
  | 'inspecting'
  | 'commissioning'
  | 'deploying'
  | 'releasing'
  | 'retiring';

/** The methods of metal that change what a node is. */
export type MetalMethod =
  | 'enroll'
  | 'inspect'
  | 'commission'
  | 'deploy'
  | 'undeploy'
  | 'rescue'
  | 'unrescue'
  | 'retire';

interface Transition {
  /** The states that it may begin in. */
  from: readonly NodeState[];
  /** Whether it may begin in `failed`, by the state that the node failed out of. */
  afterFailureOf: readonly NodeState[] | 'any';
  during: NodeState;
  /** What success makes of the node; `before` is the state that it began in, or after a failure `enrolled`, unless it was not released. */
  success: NodeState | 'before';
}

/** Which method leads from where to where. */
const transitions: Readonly<Record<MetalMethod, Transition>> = {
  enroll: { from: ['enrolled'], afterFailureOf: ['enrolling'], during: 'enrolling', success: 'enrolled' },
  inspect: { from: ['enrolled', 'ready'], afterFailureOf: 'any', during: 'inspecting', success: 'before' },
  commission: {
    from: ['enrolled', 'ready'],
    afterFailureOf: 'any',
    during: 'commissioning',
    success: 'ready',
  },
  // In the place of an OS that runs as well: whoever wants its data gone first undeploys it.
  deploy: {
    from: ['enrolled', 'ready', 'active'],
    afterFailureOf: ['enrolling', 'deploying'],
    during: 'deploying',
    success: 'active',
  },
  undeploy: { from: ['active', 'rescue'], afterFailureOf: 'any', during: 'releasing', success: 'ready' },
  rescue: { from: ['active'], afterFailureOf: ['rescue'], during: 'rescue', success: 'rescue' },
  unrescue: { from: ['rescue'], afterFailureOf: ['rescue'], during: 'rescue', success: 'active' },
  retire: { from: ['enrolled', 'ready'], afterFailureOf: 'any', during: 'retiring', success: 'retired' },
};

/** What a workflow makes of its node: while it runs, and when it has succeeded. */
export interface Settlement {
  method: MetalMethod;
  during: NodeState;
  success: NodeState;
  /** What the node has failed out of when the workflow fails; `during` when it is not said. */
  failedFrom?: NodeState;
}

/**
 * What `method` will make of a node in this state.
 * @throws RailheadError INVALID_STATE that names the states the method begins in
 */
export function settlementOf(
  method: MetalMethod,
  state: NodeState,
  failedFrom: NodeState | null,
): Settlement {
  const { from, afterFailureOf, during, success } = transitions[method];
  const isRetry =
    state === 'failed' &&
    (afterFailureOf === 'any' || (failedFrom !== null && afterFailureOf.includes(failedFrom)));
  if (!isRetry && !from.includes(state)) throw wrongState(method, state, failedFrom);
  if (isRetry && failedFrom === 'releasing') return unreleased(method);
  return { method, during, success: success === 'before' ? (isRetry ? 'enrolled' : state) : success };
}

/**
 * What becomes of a node that was not released: its last owner's data may be on its disks. So it stays failed out of `releasing`, whatever
 * else is tried and fails, until it is wiped or retired.
 */
function unreleased(method: MetalMethod): Settlement {
  const { during, success } = transitions[method];
  return { method, during, success: success === 'before' ? 'failed' : success, failedFrom: 'releasing' };
}

function wrongState(method: MetalMethod, state: NodeState, failedFrom: NodeState | null): RailheadError {
  const { from, afterFailureOf } = transitions[method];
  const retries =
    afterFailureOf === 'any' ? 'failed' : afterFailureOf.map((one) => `failed out of ${one}`).join(', ');
  const found = failedFrom === null ? state : `${state} (out of ${failedFrom})`;
  const message = `metal.${method} begins in ${[...from, retries].join(', ')}; this node is ${found}`;
  return new RailheadError('INVALID_STATE', message, {
    path: 'nodeId',
    reason: 'node-state',
    state,
    ...(failedFrom === null ? {} : { failedFrom }),
  });
}

/** What a wipe step left: its result, when it has succeeded. */
export interface WipeOutcome {
  attested: boolean;
  reason?: string | undefined;
}

/** Why a node may not become `ready`: a wipe that nobody attests. Undefined when nothing is in the way. */
export function unverifiedWipe(
  { success }: Settlement,
  wipes: readonly WipeOutcome[],
): WireError | undefined {
  const unverified = wipes.find(({ attested }) => !attested);
  if (success !== 'ready' || unverified === undefined) return undefined;
  const message =
    'the disks are not known to be wiped: the node is not released; wipe them again by metal.undeploy or metal.commission';
  return { code: 'UNVERIFIED_WIPE', message, details: { reason: unverified.reason ?? 'not-wiped' } };
}
