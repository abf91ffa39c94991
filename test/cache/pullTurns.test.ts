import { expect, test } from 'vitest';
import { PullTurns, Urgency } from '#cache/pullTurns.ts';

const never = new AbortController().signal;

/** Work that lasts until it is told to end, and says that it has begun. */
function work() {
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const run = () => {
    begun.resolve();
    return end.promise;
  };
  return { run, begun: begun.promise, end: () => end.resolve() };
}

test('no more than so many run at a time, in the order in which they came', async () => {
  const turns = new PullTurns(1);
  const [first, second] = [work(), work()];
  const running = [first, second].map(({ run }) => turns.run(new Urgency(), run, never));
  await first.begun;
  let isBegun = false;
  void second.begun.then(() => {
    isBegun = true;
  });
  await new Promise(setImmediate);
  expect(isBegun).toBe(false);
  first.end();
  await second.begun;
  second.end();
  await Promise.all(running);
});

test('what a machine waits for begins at once, beside those that run, though it stood in the queue', async () => {
  const turns = new PullTurns(1);
  const [prewarm, deploy] = [work(), work()];
  const urgency = new Urgency();
  const running = [turns.run(new Urgency(), prewarm.run, never), turns.run(urgency, deploy.run, never)];
  await prewarm.begun;
  urgency.raise();
  await expect(deploy.begun).resolves.toBeUndefined();
  for (const { end } of [prewarm, deploy]) end();
  await Promise.all(running);
});

test('while it runs the others take no bytes, and go on when it has ended', async () => {
  const turns = new PullTurns(1);
  const [prewarm, deploy] = [work(), work()];
  const [ordinary, urgent] = [new Urgency(), new Urgency()];
  urgent.raise();
  const running = [turns.run(ordinary, prewarm.run, never), turns.run(urgent, deploy.run, never)];
  await deploy.begun;
  let passed = false;
  const passing = turns.pass(ordinary, never).then(() => {
    passed = true;
  });
  await turns.pass(urgent, never);
  await new Promise(setImmediate);
  expect(passed).toBe(false);
  deploy.end();
  await passing;
  prewarm.end();
  await Promise.all(running);
});

test('one that is held back goes on when somebody comes to wait for it, and ends when it is wanted no more', async () => {
  const turns = new PullTurns(2);
  const urgent = new Urgency();
  urgent.raise();
  const deploy = work();
  const running = turns.run(urgent, deploy.run, never);
  await deploy.begun;
  const [raised, stopped] = [new Urgency(), new AbortController()];
  const passing = turns.pass(raised, never);
  const refused = turns.pass(new Urgency(), stopped.signal);
  raised.raise();
  await passing;
  stopped.abort(new Error('not wanted'));
  await expect(refused).rejects.toThrow('not wanted');
  deploy.end();
  await running;
});

test('whoever leaves the queue runs nothing', async () => {
  const turns = new PullTurns(1);
  const [first, second] = [work(), work()];
  const running = turns.run(new Urgency(), first.run, never);
  const stop = new AbortController();
  const waiting = turns.run(new Urgency(), second.run, stop.signal);
  stop.abort(new Error('not wanted'));
  await expect(waiting).rejects.toThrow('not wanted');
  first.end();
  await running;
});
