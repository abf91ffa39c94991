import type { Command } from 'commander';
import type { TenantFlags } from '../call.ts';
import { type CliEnvironment, tenantCommand, withApi } from '../client.ts';
import { printLine } from '../print.ts';
import { resultOf } from './result.ts';

/** `railhead nodes rotate-bmc-password NODE`: waits until the BMC has been logged in at by the new one. */
export function rotateBmcPasswordCommand(environment: CliEnvironment): Command {
  return tenantCommand(
    'rotate-bmc-password',
    "have a machine's BMC given a new password, that nobody types and only its site and the centre know",
  )
    .argument('<node-id>')
    .action(async (nodeId: string, flags: TenantFlags) => {
      const tenantId = flags.tenant;
      const result = await withApi(environment, flags, async (call) => {
        const started = await call<{ workflowId: string }>('nodes.rotateBmcPassword', { tenantId, nodeId });
        return resultOf(call, { tenantId, workflowId: started.workflowId });
      });
      printLine(JSON.stringify(result, undefined, 2));
    });
}
