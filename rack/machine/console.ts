import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { ConsoleText } from './consoleText.ts';
import { listenOnPath } from './listenOnPath.ts';

/** A reader that has fallen this far behind is dropped: the machine never waits for it. */
const mostUnread = 1024 * 1024;

/** A machine's serial console: its log, and a socket where any number of people read and type. It outlives QEMU's runs. */
export class MachineConsole {
  readonly #log: WriteStream;
  readonly #server: Server;
  readonly #clients = new Set<Socket>();
  readonly #text = new ConsoleText();
  #input: Writable | undefined;

  private constructor(logFile: string) {
    this.#log = createWriteStream(logFile, { flags: 'a' });
    this.#server = createServer((socket) => this.#join(socket));
  }

  static async open(logFile: string, socketFile: string): Promise<MachineConsole> {
    const console = new MachineConsole(logFile);
    // Those who wait for lines watch the file: it must be there.
    await once(console.#log, 'open');
    await listenOnPath(console.#server, socketFile);
    return console;
  }

  /** Connects the serial port of a run that has just started. */
  attach({ output, input }: { output: Readable; input: Writable }): void {
    this.#input = input;
    output.on('data', (bytes: Buffer) => this.#say(bytes));
  }

  close(): void {
    for (const socket of this.#clients) socket.destroy();
    this.#server.close();
    this.#log.end();
  }

  #say(bytes: Buffer): void {
    const text = this.#text.push(bytes);
    if (text !== '') this.#log.write(text);
    for (const socket of this.#clients) {
      if (socket.writableLength > mostUnread) socket.destroy();
      else socket.write(bytes);
    }
  }

  #join(socket: Socket): void {
    this.#clients.add(socket);
    socket.on('data', (bytes) => this.#input?.write(bytes));
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#clients.delete(socket));
  }
}
