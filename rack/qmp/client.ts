import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import { RailheadError } from '#contract/errors.ts';
import { parseQmpLine, type QmpMessage } from './messages.ts';

/** One reply of QEMU is far below this; more without a line end is not QMP. */
const longestLine = 4 * 1024 * 1024;

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** A QMP connection. Emits `event` with (name, data) for each event, and `close` once. */
export class Qmp extends EventEmitter<{ event: [string, Record<string, unknown>]; close: [] }> {
  readonly #stream: Duplex;
  readonly #pending = new Map<number, Pending>();
  readonly #greeting = Promise.withResolvers<string>();
  #rest = '';
  #lastId = 0;

  constructor(stream: Duplex) {
    super();
    this.#stream = stream;
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => this.#read(text));
    // QEMU's end shows as ECONNRESET when it had unread input: the same as a close to us.
    stream.on('error', () => stream.destroy());
    stream.once('end', () => stream.destroy());
    stream.once('close', () => this.#closed());
    this.#greeting.promise.catch(() => {});
  }

  /**
   * Waits for the greeting, enters command mode, and returns QEMU's version.
   * @throws RailheadError UNAVAILABLE when QEMU ends before or does not answer within `timeoutMs`
   */
  async negotiate(timeoutMs = 10_000): Promise<string> {
    const version = await within(timeoutMs, this.#greeting.promise, 'its greeting');
    await this.execute('qmp_capabilities', {}, timeoutMs);
    return version;
  }

  /**
   * Carries out one command and returns its value.
   * @throws RailheadError DRIVER_ERROR with QEMU's text; UNAVAILABLE when the connection ends or `timeoutMs` passes
   */
  execute(command: string, args: Record<string, unknown> = {}, timeoutMs = 10_000): Promise<unknown> {
    if (this.#stream.destroyed) return Promise.reject(connectionLost());
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#pending.set(id, { resolve, reject });
    this.#stream.write(`${JSON.stringify({ execute: command, arguments: args, id })}\n`);
    return within(timeoutMs, promise, command).finally(() => this.#pending.delete(id));
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#take(parseQmpLine(line));
    if (this.#rest.length > longestLine) this.#stream.destroy();
  }

  #take(message: QmpMessage | undefined): void {
    if (message?.type === 'greeting') this.#greeting.resolve(message.version);
    if (message?.type === 'event') this.emit('event', message.name, message.data);
    if (message?.type === 'return') this.#pending.get(message.id)?.resolve(message.value);
    if (message?.type === 'error')
      this.#pending.get(message.id)?.reject(refused(message.class, message.text));
  }

  #closed(): void {
    this.#greeting.reject(connectionLost());
    for (const { reject } of this.#pending.values()) reject(connectionLost());
    this.emit('close');
  }
}

function refused(errorClass: string, text: string): RailheadError {
  return new RailheadError('DRIVER_ERROR', `QEMU refused a command: ${text}`, {
    reason: 'qmp-refused',
    errorClass,
  });
}

function connectionLost(): RailheadError {
  return new RailheadError('UNAVAILABLE', 'QEMU has ended; power the machine on again', {
    reason: 'qmp-closed',
  });
}

async function within<Value>(timeoutMs: number, work: Promise<Value>, what: string): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () =>
      reject(
        new RailheadError('UNAVAILABLE', `QEMU did not answer (${what}) within ${timeoutMs} ms`, {
          reason: 'qmp-timeout',
          timeoutMs,
        }),
      ),
    timeoutMs,
  );
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
