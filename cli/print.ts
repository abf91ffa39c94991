import type { OutputFormat } from './client.ts';

/** Prints one record: JSON, or a line per field. */
export function printRecord(record: object, format: OutputFormat): void {
  if (format === 'json') {
    printLine(JSON.stringify(record, null, 2));
    return;
  }
  for (const [name, value] of Object.entries(record)) printLine(`${name}: ${inline(value)}`);
}

/** Prints a list: JSON, or aligned columns. */
export function printList(rows: readonly object[], columns: readonly string[], format: OutputFormat): void {
  if (format === 'json') {
    printLine(JSON.stringify(rows, null, 2));
    return;
  }
  const cells = [
    columns,
    ...rows.map((row) => columns.map((column) => inline(row[column as keyof typeof row]))),
  ];
  const widths = columns.map((_, at) => Math.max(...cells.map((line) => line[at]?.length ?? 0)));
  for (const line of cells)
    printLine(
      line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

export function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

function inline(value: unknown): string {
  if (value === undefined || value === null) return '-';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
