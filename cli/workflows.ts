import { Command } from 'commander';
import { fromWireError, RailheadError, type WireError } from '#contract/errors.ts';
import { given, listAndPrint, type TenantFlags } from './call.ts';
import { type CallApi, type CliEnvironment, type ClientFlags, tenantCommand, withApi } from './client.ts';
import { printEvents } from './events.ts';
import { printLine, printList, printRecord } from './print.ts';

interface WorkflowAnswer {
  workflowId: string;
  state: string;
  error?: WireError;
  steps: object[];
}

/** `railhead workflows …`: the runs of profiles on machines. */
export function workflowsCommand(environment: CliEnvironment): Command {
  return new Command('workflows')
    .description('the runs of profiles on machines')
    .addCommand(getCommand(environment))
    .addCommand(listCommand(environment))
    .addCommand(eventsCommand(environment))
    .addCommand(cancelCommand(environment));
}

function getCommand(environment: CliEnvironment): Command {
  return tenantCommand('get', 'one workflow with its steps')
    .argument('<workflow-id>')
    .action(async (workflowId: string, flags: TenantFlags) => {
      const input = { tenantId: flags.tenant, workflowId };
      printWorkflow(
        await withApi(environment, flags, (call) => call<WorkflowAnswer>('workflows.get', input)),
        flags,
      );
    });
}

function listCommand(environment: CliEnvironment): Command {
  return tenantCommand('list', "the tenant's workflows, newest first")
    .option('--node <node-id>', 'only those of this node')
    .action((flags: TenantFlags & { node?: string }) =>
      listAndPrint(environment, flags, 'workflows.list', {
        input: given({ tenantId: flags.tenant, nodeId: flags.node }),
        columns: ['workflowId', 'nodeId', 'profileId', 'profileVersion', 'state', 'createdAt'],
      }),
    );
}

function eventsCommand(environment: CliEnvironment): Command {
  return tenantCommand('events', 'what happened, step by step, with the boot timeline of the machine')
    .argument('<workflow-id>')
    .option('--follow', 'go on until the workflow ends; fails when it does not succeed')
    .action((workflowId: string, flags: TenantFlags & { follow?: true }) =>
      withApi(environment, flags, async (call) => {
        const input = { tenantId: flags.tenant, workflowId };
        const first = { ...input, waitSeconds: flags.follow ? 30 : 0 };
        const isEnd = ({ items, state }: { items: unknown[]; state: string }) =>
          items.length === 0 && (state !== 'running' || !flags.follow);
        await printEvents(call, 'workflows.events', { first, later: first }, isEnd, flags);
        if (flags.follow) await requireSuccess(call, input);
      }),
    );
}

async function requireSuccess(call: CallApi, input: { tenantId: string; workflowId: string }): Promise<void> {
  const { state, error } = await call<WorkflowAnswer>('workflows.get', input);
  if (state === 'succeeded') return;
  if (error !== undefined) throw fromWireError(error);
  throw new RailheadError('INVALID_STATE', `the workflow was ${state}`, { reason: state });
}

function cancelCommand(environment: CliEnvironment): Command {
  return tenantCommand('cancel', 'stop between steps, and the running operation where it can be stopped')
    .argument('<workflow-id>')
    .action(async (workflowId: string, flags: TenantFlags) => {
      const input = { tenantId: flags.tenant, workflowId };
      const cancelled = await withApi(environment, flags, (call) =>
        call<WorkflowAnswer>('workflows.cancel', input),
      );
      printWorkflow(cancelled, flags);
    });
}

function printWorkflow({ steps, ...workflow }: WorkflowAnswer, { format }: ClientFlags): void {
  if (format === 'json') {
    printRecord({ ...workflow, steps }, format);
    return;
  }
  printRecord(workflow, format);
  printLine('');
  printList(steps, ['use', 'phase', 'state', 'attempt', 'error'], format);
}
