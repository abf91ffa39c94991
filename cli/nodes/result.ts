import { fromWireError, RailheadError, type WireError } from '#contract/errors.ts';
import type { CallApi } from '../client.ts';

interface Ended {
  state: string;
  error?: WireError;
  steps: { result?: unknown }[];
}

/** What the only step of a workflow returned, once it has ended. */
export async function resultOf(
  call: CallApi,
  input: { tenantId: string; workflowId: string },
): Promise<unknown> {
  let cursor: string | undefined;
  for (;;) {
    const { state, error, steps } = await call<Ended>('workflows.get', input);
    if (state === 'succeeded') return steps[0]?.result;
    if (state !== 'running')
      throw error === undefined
        ? new RailheadError('INVALID_STATE', `the request was ${state}`, { reason: state })
        : fromWireError(error);
    const waited = { ...input, waitSeconds: 10, ...(cursor !== undefined && { cursor }) };
    ({ cursor } = await call<{ cursor: string }>('workflows.events', waited));
  }
}
