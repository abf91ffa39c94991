import { StringDecoder } from 'node:string_decoder';

type Mode = 'text' | 'escape' | 'sequence';

/**
 * Turns what a machine sends to its serial terminal into lines of plain text, each with the time of its first character:
 * colours and cursor movements go, a cursor sent elsewhere begins a new line, and so does a carriage return on its own.
 */
export class ConsoleText {
  readonly #decoder = new StringDecoder('utf8');
  #mode: Mode = 'text';
  #afterReturn = false;
  #lineIsEmpty = true;

  /** The text to append to the log for one piece of output. */
  push(bytes: Buffer, now: Date = new Date()): string {
    let text = '';
    for (const character of this.#decoder.write(bytes)) text += this.#take(character, now);
    return text;
  }

  #take(character: string, now: Date): string {
    if (this.#mode !== 'text') return this.#inSequence(character);
    if (character === '\u001b') return this.#enter('escape');
    if (character === '\n') return this.#endLine();
    if (character === '\r') {
      this.#afterReturn = true;
      return '';
    }
    return this.#print(character, now);
  }

  #print(character: string, now: Date): string {
    if (character < ' ' && character !== '\t') return '';
    const ending = this.#afterReturn ? this.#endLine() : '';
    if (!this.#lineIsEmpty) return ending + character;
    this.#lineIsEmpty = false;
    return `${ending}${now.toISOString()} ${character}`;
  }

  /** ECMA-48: a control sequence is ESC [, parameters, and a final byte from @ to ~. */
  #inSequence(character: string): string {
    if (this.#mode === 'escape') return this.#enter(character === '[' ? 'sequence' : 'text');
    if (character < '@' || character > '~') return '';
    this.#enter('text');
    return character === 'H' || character === 'J' ? this.#endLine() : '';
  }

  #enter(mode: Mode): string {
    this.#mode = mode;
    return '';
  }

  #endLine(): string {
    this.#afterReturn = false;
    if (this.#lineIsEmpty) return '';
    this.#lineIsEmpty = true;
    return '\n';
  }
}
