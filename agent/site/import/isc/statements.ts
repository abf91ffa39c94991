/** One statement of dhcpd.conf: its words, and the statements in its braces if it has any. */
export interface Statement {
  line: number;
  words: Word[];
  body?: Statement[];
}

export interface Word {
  text: string;
  quoted: boolean;
}

interface Token extends Word {
  line: number;
}

/** Deeper nesting than any real file has. */
const deepest = 32;

/**
 * Splits dhcpd.conf (dhcpd.conf(5)) into statements; total: a missing brace or semicolon ends where the text does. Commas are kept as
 * words of their own.
 */
export function statementsOf(text: string): Statement[] {
  const tokens = tokensOf(text);
  let at = 0;
  return block(0);

  function block(depth: number): Statement[] {
    const found: Statement[] = [];
    while (at < tokens.length) {
      if (isSign(tokens[at], '}')) {
        at++;
        // A stray brace at the top is passed over.
        if (depth > 0) return found;
        continue;
      }
      const statement = one(depth);
      if (statement.words.length > 0 || statement.body !== undefined) found.push(statement);
    }
    return found;
  }

  function one(depth: number): Statement {
    const statement: Statement = { line: tokens[at]?.line ?? 0, words: [] };
    while (at < tokens.length && !isSign(tokens[at], '}')) {
      const token = tokens[at++] as Token;
      if (isSign(token, ';')) return statement;
      if (isSign(token, '{')) return depth >= deepest ? statement : { ...statement, body: block(depth + 1) };
      statement.words.push({ text: token.text, quoted: token.quoted });
    }
    return statement;
  }
}

const pattern = /#[^\n]*|"((?:[^"\\\n]|\\.)*)"|([{};,])|[^\s{};,"#]+|"|\n/g;

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let line = 1;
  for (const { 0: all, 1: string } of text.matchAll(pattern)) {
    if (all === '\n') line++;
    else if (string !== undefined)
      tokens.push({ line, text: string.replaceAll(/\\(.)/g, '$1'), quoted: true });
    else if (!all.startsWith('#')) tokens.push({ line, text: all, quoted: false });
  }
  return tokens;
}

function isSign(token: Token | undefined, sign: string): boolean {
  return token !== undefined && !token.quoted && token.text === sign;
}
