import { Argument, type Command } from 'commander';
import { fromWireError, RailheadError, type WireError } from '#contract/errors.ts';
import { given, type TenantFlags } from '../call.ts';
import { type CallApi, type CliEnvironment, tenantCommand, withApi } from '../client.ts';
import { readJson } from '../jsonFile.ts';
import { printLine } from '../print.ts';

interface Ended {
  state: string;
  error?: WireError;
  steps: { result?: unknown }[];
}

/** `railhead nodes redfish NODE GET /redfish/v1/…`: one request to a machine's BMC, through its site. */
export function redfishCommand(environment: CliEnvironment): Command {
  return tenantCommand('redfish', "send one Redfish request to a machine's BMC and print what it answers")
    .argument('<node-id>')
    .addArgument(new Argument('<method>', 'how').choices(['GET', 'POST', 'PATCH']))
    .argument('<path>', '/redfish/v1/…')
    .option('--body <file>', 'a JSON document')
    .action(async (nodeId: string, method: string, path: string, flags: TenantFlags & { body?: string }) => {
      const body = flags.body === undefined ? undefined : await readJson(flags.body);
      const tenantId = flags.tenant;
      const input = given({ tenantId, nodeId, method, path, body });
      const result = await withApi(environment, flags, async (call) => {
        const { workflowId } = await call<{ workflowId: string }>('nodes.redfish', input);
        return resultOf(call, { tenantId, workflowId });
      });
      printLine(JSON.stringify(result, undefined, 2));
    });
}

/** What the only step of a workflow returned, once it has ended. */
async function resultOf(call: CallApi, input: { tenantId: string; workflowId: string }): Promise<unknown> {
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
