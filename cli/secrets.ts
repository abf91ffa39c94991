import { Command } from 'commander';
import { type CliEnvironment, type ClientFlags, tenantCommand, withApi } from './client.ts';
import { allPages } from './pages.ts';
import { printList, printRecord } from './print.ts';
import { readSecret } from './secretFile.ts';

type SecretFlags = ClientFlags & { tenant: string };

/** `railhead secrets …`: texts such as BMC credentials, which the centre keeps encrypted and hands out sealed. */
export function secretsCommand(environment: CliEnvironment): Command {
  return new Command('secrets')
    .description('texts such as BMC credentials, kept encrypted and handed out sealed')
    .addCommand(setCommand(environment))
    .addCommand(listCommand(environment))
    .addCommand(deleteCommand(environment));
}

function setCommand(environment: CliEnvironment): Command {
  return tenantCommand('set', 'keep a secret, or its next version; the sites that need it fetch it at once')
    .argument('<ref>', "its name, secret://…; a BMC's holds one line 'username:password'")
    .requiredOption('--from-file <file>', 'the text; - reads it from standard input')
    .action(async (ref: string, flags: SecretFlags & { fromFile: string }) => {
      const input = { tenantId: flags.tenant, ref, text: await readSecret(flags.fromFile) };
      await printAnswer(environment, flags, 'secrets.set', input);
    });
}

function listCommand(environment: CliEnvironment): Command {
  return tenantCommand('list', 'every secret by name, and which agents were given it; never its text').action(
    async (flags: SecretFlags) => {
      const input = { tenantId: flags.tenant };
      const rows = await withApi(environment, flags, (call) => allPages<object>(call, 'secrets.list', input));
      printList(rows, ['ref', 'version', 'setAt', 'agents'], flags.format);
    },
  );
}

function deleteCommand(environment: CliEnvironment): Command {
  return tenantCommand('delete', 'forget a secret, here and at the sites')
    .argument('<ref>', 'its name, secret://…')
    .option('--force', 'even if machines need it: their sites then look for a file of that name')
    .action((ref: string, flags: SecretFlags & { force?: true }) =>
      printAnswer(environment, flags, 'secrets.delete', {
        tenantId: flags.tenant,
        ref,
        force: flags.force === true,
      }),
    );
}

async function printAnswer(
  environment: CliEnvironment,
  flags: ClientFlags,
  method: `secrets.${string}`,
  input: object,
): Promise<void> {
  printRecord(await withApi(environment, flags, (call) => call<object>(method, input)), flags.format);
}
