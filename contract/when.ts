/** What a machine is known by: set by operators, or facts that it told. */
export type Labels = Readonly<Record<string, string>>;

/** A label expression, parsed. */
export type WhenExpression =
  | { kind: 'or'; terms: WhenExpression[] }
  | { kind: 'and'; terms: WhenExpression[] }
  | { kind: 'not'; term: WhenExpression }
  | { kind: 'has'; label: string }
  | { kind: 'in'; label: string; values: string[] };

/** Where and why a text is no label expression; `at` counts characters from 0. */
export interface WhenFault {
  at: number;
  message: string;
}

/** Longer expressions are refused: nobody reads them, and their length bounds how deep they nest. */
export const longestWhen = 512;

const labelPattern = /^[A-Za-z][A-Za-z0-9._/-]*$/;

/**
 * Parses the text of a `when`; never throws. The grammar, `!` binding closest and `||` least:
 *
 *     expression = conjunction { "||" conjunction }
 *     conjunction = term { "&&" term }
 *     term = "!" term | "(" expression ")" | test
 *     test = label [ ( "==" | "!=" ) value | [ "not" ] "in" "(" value { "," value } ")" ]
 *     label = letter { letter | digit | "." | "_" | "/" | "-" }, and neither "in" nor "not"
 *     value = word | '"' { any character but '"' and "\" | '\"' | "\\" } '"'
 *     word = one or more of letter, digit, "." "_" "/" "-" ":" "+"
 */
export function parseWhen(text: string): { expression: WhenExpression } | { fault: WhenFault } {
  if (text.length > longestWhen)
    return { fault: { at: longestWhen, message: `is longer than ${longestWhen} characters` } };
  const reader = new Reader(tokensOf(text), text.length);
  try {
    const expression = readChain(reader, 'or');
    if (reader.next !== undefined) throw reader.unexpected('&&, || or the end');
    return { expression };
  } catch (fault) {
    if (fault instanceof Unexpected) return { fault: fault.fault };
    throw fault;
  }
}

/** Why a text is no label expression; undefined when it is one. */
export function whenFault(text: string): WhenFault | undefined {
  const parsed = parseWhen(text);
  return 'fault' in parsed ? parsed.fault : undefined;
}

/** Whether an expression holds for a machine with these labels. A bare label holds when it is there and is not `false`. */
export function holds(expression: WhenExpression, labels: Labels): boolean {
  switch (expression.kind) {
    case 'or':
      return expression.terms.some((term) => holds(term, labels));
    case 'and':
      return expression.terms.every((term) => holds(term, labels));
    case 'not':
      return !holds(expression.term, labels);
    case 'has':
      return (labelOf(labels, expression.label) ?? 'false') !== 'false';
    case 'in': {
      const value = labelOf(labels, expression.label);
      return value !== undefined && expression.values.includes(value);
    }
  }
}

function labelOf(labels: Labels, label: string): string | undefined {
  return Object.hasOwn(labels, label) ? labels[label] : undefined;
}

interface Token {
  at: number;
  text: string;
  /** What a quoted string says. */
  quoted?: string;
}

class Unexpected extends Error {
  readonly fault: WhenFault;
  constructor(fault: WhenFault) {
    super(fault.message);
    this.fault = fault;
  }
}

/** Anything that no token begins with becomes a token of one character, which the parser then does not expect. */
function tokensOf(text: string): Token[] {
  const pattern = /\s+|\|\||&&|==|!=|[!(),]|"((?:[^"\\]|\\["\\])*)"|[A-Za-z0-9._/:+-]+|./gsu;
  return [...text.matchAll(pattern)]
    .filter(([token]) => token.trim() !== '')
    .map((match) => ({
      at: match.index,
      text: match[0],
      ...(match[1] === undefined ? {} : { quoted: match[1].replaceAll(/\\(["\\])/g, '$1') }),
    }));
}

class Reader {
  readonly #tokens: Token[];
  readonly #end: number;
  #position = 0;

  constructor(tokens: Token[], end: number) {
    this.#tokens = tokens;
    this.#end = end;
  }

  get next(): Token | undefined {
    return this.#tokens[this.#position];
  }

  /** Whether the next token is `text`; then it is read. */
  reads(text: string): boolean {
    if (this.next?.text !== text) return false;
    this.#position++;
    return true;
  }

  expect(text: string): void {
    if (!this.reads(text)) throw this.unexpected(text);
  }

  take(isExpected: (token: Token) => boolean, expected: string): Token {
    const token = this.next;
    if (token === undefined || !isExpected(token)) throw this.unexpected(expected);
    this.#position++;
    return token;
  }

  unexpected(expected: string): Unexpected {
    const found = this.next === undefined ? 'the end' : this.next.text;
    const at = this.next?.at ?? this.#end;
    return new Unexpected({ at, message: `expects ${expected} at character ${at + 1}, not ${found}` });
  }
}

const operators = { or: '||', and: '&&' } as const;

function readChain(reader: Reader, kind: 'or' | 'and'): WhenExpression {
  const readTerm = () => (kind === 'or' ? readChain(reader, 'and') : readUnary(reader));
  const first = readTerm();
  const terms = [first];
  while (reader.reads(operators[kind])) terms.push(readTerm());
  return terms.length === 1 ? first : { kind, terms };
}

function readUnary(reader: Reader): WhenExpression {
  if (reader.reads('!')) return { kind: 'not', term: readUnary(reader) };
  if (!reader.reads('(')) return readTest(reader);
  const inside = readChain(reader, 'or');
  reader.expect(')');
  return inside;
}

function readTest(reader: Reader): WhenExpression {
  const { text: label } = reader.take(isLabel, 'a label');
  if (reader.reads('==')) return { kind: 'in', label, values: [readValue(reader)] };
  if (reader.reads('!=')) return { kind: 'not', term: { kind: 'in', label, values: [readValue(reader)] } };
  if (reader.reads('in')) return { kind: 'in', label, values: readList(reader) };
  if (!reader.reads('not')) return { kind: 'has', label };
  reader.expect('in');
  return { kind: 'not', term: { kind: 'in', label, values: readList(reader) } };
}

function readList(reader: Reader): string[] {
  reader.expect('(');
  const values = [readValue(reader)];
  while (reader.reads(',')) values.push(readValue(reader));
  reader.expect(')');
  return values;
}

function readValue(reader: Reader): string {
  const token = reader.take(isValue, 'a value');
  return token.quoted ?? token.text;
}

function isLabel({ text }: Token): boolean {
  return labelPattern.test(text) && text !== 'in' && text !== 'not';
}

function isValue({ text, quoted }: Token): boolean {
  return quoted !== undefined || /^[A-Za-z0-9._/:+-]+$/.test(text);
}
