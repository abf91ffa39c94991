import { stripVTControlCharacters } from 'node:util';
import type { SshConsole } from '../session.ts';

/** What a BMC's command line waits with, at the end of what it wrote: `racadm>>`, `</>hpiLO->`, `system>`, `->`, `#`. */
const prompt = /(?:^|\n)([^\n]*[>$#]) ?$/;
/** Characters that are looked at; a banner is longer, its end is not. */
const most = 4096;

/**
 * The dialogue with a BMC's command line until it has handed over the serial port. A command is typed once the command line asks for one. When
 * its very prompt comes back later the serial port was left, or never reached: then what is typed would be commands to the BMC.
 */
export class Entry {
  #commands: string[];
  #otherwise: readonly string[];
  #text = '';
  #prompt: string | undefined;

  constructor({ commands, otherwise = [] }: Pick<SshConsole, 'commands' | 'otherwise'>) {
    this.#commands = [...commands];
    this.#otherwise = otherwise;
  }

  /** Whether all commands were typed: what comes is the serial port's. */
  get done(): boolean {
    return this.#commands.length === 0;
  }

  /** What is to be typed now; undefined for nothing. */
  next(received: string): string | undefined {
    this.#hear(received);
    const found = this.done ? undefined : prompt.exec(this.#text)?.[1];
    if (found === undefined) return undefined;
    this.#prompt = found.trim();
    this.#text = '';
    return `${this.#commands.shift()}\r`;
  }

  /** Whether what came after the last command ends with the prompt that it was typed at. */
  isBack(received: string): boolean {
    this.#hear(received);
    if (!this.done || this.#prompt === undefined) return false;
    return prompt.exec(this.#text)?.[1]?.trim() === this.#prompt;
  }

  /** What is to be typed after the commands were refused; undefined when there is nothing else to try. */
  again(): string | undefined {
    this.#commands = [...this.#otherwise];
    this.#otherwise = [];
    return this.done ? undefined : this.next('');
  }

  /** The last that was said, to tell an operator. */
  get words(): string {
    const lines = this.#text.split('\n').map((line) => line.trim());
    return lines
      .filter((line) => line !== '' && line !== this.#prompt)
      .slice(-3)
      .join(' | ')
      .slice(-300);
  }

  #hear(received: string): void {
    this.#text = harmless(this.#text + received).slice(-most);
  }
}

/** One kind of line end, and no control sequences (ECMA-48), which some BMCs put around their prompts. */
function harmless(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(/\r+\n?/g, '\n')
    .replaceAll('\0', '');
}
