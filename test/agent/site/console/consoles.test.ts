import { expect, test } from 'vitest';
import { createConsoles } from '#agent/site/console/consoles.ts';
import { silentLog } from '#base/log.ts';
import { listener } from '../../../fakes/heard.ts';
import { fakeSessions, node } from './fakeSession.ts';

function setUp() {
  const fake = fakeSessions();
  const consoles = createConsoles(fake.open, silentLog());
  const join = async (options?: { takeOver?: boolean }) => {
    const ear = listener();
    const told: string[] = [];
    const seat = await consoles.join(
      node,
      {
        output: ear.output,
        ended: (why) => void told.push(why),
        unseated: () => void told.push('unseated'),
      },
      options,
    );
    return { seat, ear, told };
  };
  return { ...fake, consoles, join };
}

test('all readers share one session, which the last one ends', async () => {
  const { sessions, join } = setUp();
  const [one, two] = await Promise.all([join(), join()]);
  expect(sessions).toHaveLength(1);
  sessions[0]?.output(Buffer.from('hello'));
  expect([one.ear.heard, two.ear.heard]).toEqual(['hello', 'hello']);
  await one.seat.leave();
  expect(sessions[0]?.isClosed).toBe(false);
  await two.seat.leave();
  expect(sessions[0]?.isClosed).toBe(true);
  await two.seat.leave();
  await join();
  expect(sessions).toHaveLength(2);
});

test('one types; another takes the keyboard when asked to, and who had it is told', async () => {
  const { sessions, join } = setUp();
  const [one, two] = [await join(), await join()];
  expect(one.seat.sitAtKeyboard(false)).toBe(true);
  expect(two.seat.sitAtKeyboard(false)).toBe(false);
  two.seat.type(Buffer.from('no'));
  one.seat.type(Buffer.from('a'));
  expect(two.seat.sitAtKeyboard(true)).toBe(true);
  one.seat.type(Buffer.from('no'));
  two.seat.type(Buffer.from('b'));
  expect(sessions[0]?.typed).toBe('ab');
  expect(one.told).toEqual(['unseated']);
  await two.seat.leave();
  expect(one.seat.sitAtKeyboard(false)).toBe(true);
});

test('when the BMC ends the session all are told, and the next to join opens another', async () => {
  const { sessions, join } = setUp();
  const [one, two] = [await join(), await join()];
  sessions[0]?.end('the BMC restarts');
  await expect.poll(() => [one.told, two.told]).toEqual([['the BMC restarts'], ['the BMC restarts']]);
  await one.seat.leave();
  await join({ takeOver: true });
  expect(sessions.map(({ takeOver }) => takeOver)).toEqual([false, true]);
});

test('an opening that fails is told to each who waits, and is forgotten', async () => {
  const { sessions, refuse, join } = setUp();
  refuse(new Error('busy'));
  await expect(Promise.all([join(), join()])).rejects.toThrow('busy');
  await join();
  expect(sessions).toHaveLength(1);
});

test('the end of the agent ends the sessions, and opens no more', async () => {
  const { sessions, consoles, join } = setUp();
  await join();
  await consoles.close();
  expect(sessions[0]?.isClosed).toBe(true);
  await expect(join()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

test('a node without a BMC has no console', async () => {
  const { consoles } = setUp();
  const { bmc: _bmc, ...bare } = node;
  const joining = consoles.join(bare, { output: () => {}, ended: () => {} });
  await expect(joining).rejects.toMatchObject({ details: { reason: 'no-bmc' } });
});
