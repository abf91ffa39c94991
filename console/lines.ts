/** Characters of one line; a longer one is cut. */
const longestLine = 1000;
/** Characters of a control sequence that has no end: what follows is text again. */
const longestSequence = 256;

type Place = 'text' | 'escape' | 'charset' | 'control' | 'string' | 'string-end';

/**
 * Cuts what a serial port sends into lines of plain text. Nothing of it is left that would move a cursor or colour a terminal: control
 * sequences (ECMA-48) go, a carriage return alone begins the line anew as a progress bar does, a cursor that is moved ends it as the
 * screens of firmware do. Any bytes, cut anywhere, are taken; what is no UTF-8 becomes U+FFFD.
 */
export class LineCutter {
  readonly #decoder = new TextDecoder('utf-8');
  #line = '';
  #place: Place = 'text';
  #sequence = '';
  /** A carriage return came last: what it means, the next character tells. */
  #returned = false;

  /** The lines that these bytes complete. */
  push(bytes: Uint8Array): string[] {
    const lines: string[] = [];
    for (const character of this.#decoder.decode(bytes, { stream: true })) this.#take(character, lines);
    return lines;
  }

  /** Whether a line has begun that is not complete, e.g. a prompt. */
  get pending(): boolean {
    return this.#line !== '';
  }

  /** The line that has begun, as it is now; what comes next begins another. */
  rest(): string[] {
    const line = this.#line.trimEnd();
    this.#line = '';
    return line === '' ? [] : [line];
  }

  #take(character: string, lines: string[]): void {
    if (this.#place === 'text') this.#takeText(character, lines);
    else this.#takeSequence(character, lines);
  }

  #takeText(character: string, lines: string[]): void {
    if (character === '\u001b') this.#begin('escape');
    else if (character === '\u009b') this.#begin('control');
    else if (character === '\n' || character === '\u0085') this.#end(lines);
    else if (character === '\r') this.#returned = true;
    else if (character === '\b') this.#line = this.#line.replace(/.$/su, '');
    else if (character === '\t') this.#add(' ', lines);
    else if (!/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(character)) this.#add(character, lines);
  }

  #add(character: string, lines: string[]): void {
    if (this.#returned) this.#line = '';
    this.#returned = false;
    this.#line += character;
    if (this.#line.length >= longestLine) this.#end(lines);
  }

  #end(lines: string[]): void {
    lines.push(this.#line.trimEnd());
    this.#line = '';
    this.#returned = false;
  }

  #begin(place: Place): void {
    this.#place = place;
    this.#sequence = '';
  }

  #takeSequence(character: string, lines: string[]): void {
    this.#sequence += character;
    // A new one begins within: the first was cut off, as a restart of the machine does.
    if (character === '\u001b' && this.#place !== 'string') this.#begin('escape');
    else if (this.#sequence.length > longestSequence) this.#begin('text');
    else this.#place = this.#placeAfter(character, lines);
  }

  #placeAfter(character: string, lines: string[]): Place {
    switch (this.#place) {
      case 'escape':
        if (character === '[') return 'control';
        if (']PX^_'.includes(character)) return 'string';
        return /[ -/]/.test(character) ? 'charset' : 'text';
      case 'charset':
        return /[ -/]/.test(character) ? 'charset' : 'text';
      case 'control':
        if (!/[@-~]/.test(character)) return 'control';
        if ('HfJ'.includes(character) && this.#line.trim() !== '') this.#end(lines);
        return 'text';
      case 'string':
        if (character === '\u0007') return 'text';
        return character === '\u001b' ? 'string-end' : 'string';
      default:
        return character === '\\' ? 'text' : 'string';
    }
  }
}
