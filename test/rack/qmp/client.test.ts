import { duplexPair } from 'node:stream';
import { beforeEach, expect, test } from 'vitest';
import { Qmp } from '#rack/qmp/client.ts';

type Request = { execute: string; arguments: unknown; id: number };

/** The QEMU end of a connection: answers each command by `answer`, in any order it likes. */
class Monitor {
  readonly seen: Request[] = [];
  answer: (request: Request) => unknown = ({ id }) => ({ return: {}, id });
  readonly side: ReturnType<typeof duplexPair>[0];

  constructor(side: ReturnType<typeof duplexPair>[0]) {
    this.side = side;
    side.setEncoding('utf8').on('data', (text: string) => {
      for (const line of text.trim().split('\n')) this.#take(JSON.parse(line) as Request);
    });
  }

  say(message: unknown): void {
    this.side.write(`${JSON.stringify(message)}\r\n`);
  }

  #take(request: Request): void {
    this.seen.push(request);
    const message = this.answer(request);
    if (message !== undefined) this.say(message);
  }
}

let monitor: Monitor;
let qmp: Qmp;

beforeEach(() => {
  const [ours, theirs] = duplexPair();
  monitor = new Monitor(theirs);
  qmp = new Qmp(ours);
});

test('enters command mode after the greeting', async () => {
  monitor.say({ QMP: { version: { qemu: { major: 10, minor: 0, micro: 2 } } } });
  expect(await qmp.negotiate()).toBe('10.0.2');
  expect(monitor.seen.map(({ execute }) => execute)).toEqual(['qmp_capabilities']);
});

test('matches answers to commands by id, with events in between', async () => {
  const events: string[] = [];
  qmp.on('event', (name) => events.push(name));
  monitor.answer = () => undefined;
  const first = qmp.execute('query-status');
  const second = qmp.execute('query-name', { a: 1 });
  monitor.say({ return: 'second', id: 2 });
  monitor.say({ event: 'STOP' });
  monitor.say({ return: 'first', id: 1 });
  expect(await Promise.all([first, second])).toEqual(['first', 'second']);
  expect(events).toEqual(['STOP']);
});

test('joins a message that comes in pieces', async () => {
  monitor.answer = () => undefined;
  const answer = qmp.execute('query-status');
  monitor.side.write('{"return": "wh');
  monitor.side.write('ole", "id": 1}\n{"event": "ST');
  expect(await answer).toBe('whole');
});

test('an error answer carries QEMU’s text', async () => {
  monitor.answer = ({ id }) => ({ id, error: { class: 'GenericError', desc: 'no such device' } });
  await expect(qmp.execute('eject')).rejects.toMatchObject({
    code: 'DRIVER_ERROR',
    message: expect.stringContaining('no such device'),
  });
});

test('a command that is not answered ends after its time-out', async () => {
  monitor.answer = () => undefined;
  await expect(qmp.execute('stop', {}, 10)).rejects.toMatchObject({ details: { reason: 'qmp-timeout' } });
});

test('QEMU’s end fails what waits and what is asked after', async () => {
  monitor.answer = () => undefined;
  const waiting = qmp.execute('stop');
  monitor.side.end();
  await expect(waiting).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await expect(qmp.execute('cont')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

test('no greeting before the end is an error', async () => {
  monitor.side.end();
  await expect(qmp.negotiate()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});
