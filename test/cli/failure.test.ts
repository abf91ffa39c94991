import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { explained } from '#cli/failure.ts';
import { hasCode, RailheadError } from '#contract/errors.ts';

const failureOf = (work: Promise<unknown>) => work.then(() => undefined, explained);

test('a file that is not there, or is none, is named without a stack', async () => {
  const missing = await failureOf(readFile('/no/such/file'));
  expect(missing).toMatchObject({
    code: 'NOT_FOUND',
    message: '/no/such/file: no such file or directory',
    details: { path: '/no/such/file', reason: 'ENOENT' },
  });
  expect(await failureOf(readFile(`${import.meta.filename}/file`))).toMatchObject({
    code: 'INVALID_INPUT',
    details: { reason: 'ENOTDIR' },
  });
});

test('an address that is taken is a CONFLICT', async () => {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
  const { port } = holder.address() as { port: number };
  const second = createServer();
  const failed = new Promise((_resolve, reject) => second.once('error', reject).listen(port, '127.0.0.1'));
  expect(await failureOf(failed)).toMatchObject({
    code: 'CONFLICT',
    message: `127.0.0.1:${port}: address already in use`,
  });
  holder.close();
});

test('a text that is no URL is said to be none', async () => {
  const failure = await failureOf((async () => new URL('nowhere'))());
  expect(hasCode(failure, 'INVALID_INPUT')).toBe(true);
  expect(failure).toMatchObject({ message: 'nowhere is not a URL' });
});

test('what the command line did not cause stays as it is', () => {
  for (const error of [new TypeError('a fault'), new RailheadError('FORBIDDEN', 'no'), undefined, 'text'])
    expect(explained(error)).toBe(error);
});
