import { stringify } from 'yaml';
import { visible } from '#base/visible.ts';
import type { OutputFormat } from './client.ts';

/** Prints one record: a line per field, or as a document. */
export function printRecord(record: object, format: OutputFormat): void {
  if (format === 'table')
    for (const [name, value] of Object.entries(record)) printLine(`${name}: ${inline(value)}`);
  else printDocument(record, format);
}

/** Prints a list: aligned columns, or every field as a document. */
export function printList(rows: readonly object[], columns: readonly string[], format: OutputFormat): void {
  if (format === 'table') printTable(rows, columns);
  else printDocument(rows, format);
}

function printTable(rows: readonly object[], columns: readonly string[]): void {
  const cells = [
    columns,
    ...rows.map((row) => columns.map((column) => inline(row[column as keyof typeof row]))),
  ];
  const widths = columns.map((_, at) => Math.max(...cells.map((line) => line[at]?.length ?? 0)));
  for (const line of cells) printLine(aligned(line, widths));
}

export function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

function printDocument(value: unknown, format: 'json' | 'yaml'): void {
  process.stdout.write(format === 'yaml' ? stringify(value) : `${JSON.stringify(value, null, 2)}\n`);
}

function aligned(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, at) => cell.padEnd(widths[at] ?? 0))
    .join('  ')
    .trimEnd();
}

function inline(value: unknown): string {
  if (value === undefined || value === null) return '-';
  return visible(typeof value === 'object' ? JSON.stringify(value) : String(value));
}
