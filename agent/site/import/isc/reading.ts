import type { Imported, ImportedHost, ImportedNetwork, ImportedOption } from '../model.ts';
import type { OptionKind } from '../optionTable.ts';
import type { Statement } from './statements.ts';

/** What the statements around one say: inner ones go before outer ones. */
export interface Scope {
  options: ImportedOption[];
  leaseSeconds?: number;
  network?: ImportedNetwork;
  host?: ImportedHost;
}

export interface Reading extends Imported {
  /** Options that the file defines itself: `option name code 150 = ip-address;` */
  defined: Map<string, { number: number; kind: OptionKind | undefined }>;
  /** Those of the whole file: a host has them by its network. */
  general: ImportedOption[];
}

export type Reader = (statement: Statement, scope: Scope, reading: Reading) => void;

/** The word at a place of the statement; empty when it has fewer. */
export function text({ words }: Statement, at: number): string {
  return words[at]?.text ?? '';
}

/** Lists what is not taken over, with its line. */
export function leave(statement: Statement, { left }: Reading, why: string): void {
  const words = statement.words
    .map(({ text: word, quoted }) => (quoted ? JSON.stringify(word) : word))
    .join(' ');
  left.push({ where: `line ${statement.line}`, what: words.replaceAll(' ,', ','), why });
}
