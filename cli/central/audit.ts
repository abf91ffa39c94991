import { Command, InvalidArgumentError, Option } from 'commander';
import { auditRecords, presentRecord } from '#central/audit.ts';
import { onHost } from '#central/host.ts';
import { hostFolder } from './options.ts';

interface ExportFlags {
  directory: string;
  since?: string;
  until?: string;
  tenant?: string;
}

const pageSize = 500;

/** `railhead central audit …`: who changed what. */
export function auditCommand(): Command {
  const command = hostFolder(new Command('export'))
    .description('write the audit records, oldest first, to standard output')
    .option('--since <time>', 'from this time on, e.g. 2026-11-01 or 2026-11-01T08:00:00Z', time)
    .option('--until <time>', 'before this time', time)
    .option('--tenant <tenant>', 'of this tenant alone')
    .addOption(
      new Option('--format <format>', 'one JSON document a line').choices(['jsonl']).default('jsonl'),
    )
    .action(exportRecords);
  return new Command('audit').description('the record of every change').addCommand(command);
}

function exportRecords({ directory, since, until, tenant: tenantId }: ExportFlags): Promise<void> {
  return onHost(directory, async ({ store }) => {
    let after: string | undefined;
    for (;;) {
      const rows = await auditRecords(store, { since, until, tenantId, after, limit: pageSize });
      for (const row of rows) process.stdout.write(`${JSON.stringify(presentRecord(row))}\n`);
      after = rows.at(-1)?.audit_id;
      if (rows.length < pageSize) return;
    }
  });
}

/** Any ISO 8601 time, in the form in which the books keep it. */
function time(value: string): string {
  const milliseconds = /^\d{4}-\d{2}-\d{2}/.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(milliseconds)) throw new InvalidArgumentError('Write a time as 2026-11-01T08:00:00Z.');
  return new Date(milliseconds).toISOString();
}
