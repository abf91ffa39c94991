import { Argument, type Command } from 'commander';
import { given, type TenantFlags } from '../call.ts';
import { type CliEnvironment, tenantCommand, withApi } from '../client.ts';
import { readJson } from '../jsonFile.ts';
import { printLine } from '../print.ts';
import { resultOf } from './result.ts';

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
