import { clientIdHex } from '../clientId.ts';
import { type ImportedOption, NotTaken } from '../model.ts';
import { notTaken, type OptionKind, optionRow } from '../optionTable.ts';
import { optionValue } from '../optionValue.ts';
import type { Reading, Scope } from './reading.ts';
import type { Statement } from './statements.ts';

/** The types of dhcpd, dhcp-options(5). */
const definedKinds: ReadonlyMap<string, OptionKind> = new Map([
  ['ip-address', 'addresses'],
  ['text', 'text'],
  ['string', 'hex'],
  ['boolean', 'flag'],
  ['unsigned integer 8', 'uint8'],
  ['integer 8', 'uint8'],
  ['unsigned integer 16', 'uint16'],
  ['integer 16', 'uint16'],
  ['unsigned integer 32', 'uint32'],
  ['integer 32', 'uint32'],
]);

/** `option name value[, value];` or `option name code 150 = ip-address;` */
export function option(statement: Statement, scope: Scope, reading: Reading): void {
  const [, name = '', ...words] = statement.words.map(({ text: word }) => word);
  if (words[0] === 'code') {
    define(name, words, reading);
    return;
  }
  if (words[0] === '=') throw new NotTaken('its value is an expression');
  if (name === 'dhcp-client-identifier' && scope.host !== undefined) {
    const clientId = clientIdHex(words.join(''));
    if (clientId !== undefined) scope.host.clientId = clientId;
    return;
  }
  const { number, value } = readOption(name, words, reading);
  const at = scope.options.findIndex((one) => one.number === number);
  if (at >= 0) scope.options.splice(at, 1);
  scope.options.push({ number, value });
}

function readOption(name: string, words: readonly string[], { defined }: Reading): ImportedOption {
  const row = defined.get(name) ?? optionRow(name.replace(/^option-(\d+)$/, '$1'));
  if (row === undefined) throw new NotTaken(`option ${name} is not known here`);
  const why = notTaken(row.number);
  if (why !== undefined) throw new NotTaken(why);
  const given = words.filter((word) => word !== ',');
  const value = optionValue(row.kind, given);
  if (value === undefined) throw new NotTaken('its value is not one that can be taken over');
  return { number: row.number, value };
}

function define(name: string, words: readonly string[], reading: Reading): void {
  const number = Number(words[1]);
  const type = words
    .slice(3)
    .join(' ')
    .replace(/^array of /, '');
  if (!Number.isInteger(number) || number < 1 || number > 254 || /^option [a-z]/.test(type))
    throw new NotTaken('no definition of an option that a site can have');
  const kind = optionRow(name)?.kind ?? definedKinds.get(type);
  reading.defined.set(name, { number, kind });
}
