import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '#base/command.ts';
import { silentLog } from '#base/log.ts';
import type { SyslogMessage } from '#bootserver/syslog/message.ts';
import { startSyslogServer } from '#bootserver/syslog/server.ts';
import { foreignProgram } from '../foreign.ts';

// Here, since a new machine downloads it first: that is no test's time.
const logger = await foreignProgram('bsdutils', 'logger');

const mac = '02:00:00:00:00:01';

/** A receiver at `address` for which one machine has 127.0.0.1 and ::1; `next` is its next line. */
async function newServer(address = '127.0.0.1') {
  const lines: SyslogMessage[] = [];
  let heard: () => void = () => {};
  const server = await startSyslogServer({
    address,
    port: 0,
    macAt: (from) => (['127.0.0.1', '::1'].includes(from) ? mac : undefined),
    logged: (_mac, message) => {
      lines.push(message);
      heard();
    },
    log: silentLog(),
  });
  onTestFinished(() => server.close());
  const next = async () => {
    while (lines.length === 0)
      await new Promise<void>((resolve) => {
        heard = resolve;
      });
    return lines.shift();
  };
  return { server, lines, next };
}

test.each(['--rfc3164', '--rfc5424'])("util-linux's logger %s is understood", async (format) => {
  const { server, next } = await newServer();
  const to = ['--udp', '--server', '127.0.0.1', '--port', String(server.port)];
  const said = ['--priority', 'daemon.err', '--tag', 'partman', '--id=77', 'no space: 5 of 10 GB "left"'];
  await run(logger, [...to, format, ...said]);
  expect(await next()).toEqual({
    severity: 3,
    program: 'partman[77]',
    text: 'no space: 5 of 10 GB "left"',
  });
});

test('structured data of logger is passed over', async () => {
  const { server, next } = await newServer();
  const to = ['--udp', '--server', '127.0.0.1', '--port', String(server.port), '--rfc5424'];
  await run(logger, [...to, '--sd-id', 'zoo@123', '--sd-param', 'tiger="hungry \\"x"', '-t', 'late', 'seen']);
  expect(await next()).toMatchObject({ program: 'late', text: 'seen' });
});

test('lines come over IPv6 too, and of nobody that has no machine', async () => {
  const { server, lines, next } = await newServer('::1');
  const client = createSocket('udp6');
  onTestFinished(() => void client.close());
  client.send('<14>hello', server.port, '::1');
  expect(await next()).toEqual({ severity: 6, text: 'hello' });

  const other = await newServer();
  const stranger = createSocket('udp4').bind(0, '127.0.0.9');
  onTestFinished(() => void stranger.close());
  await once(stranger, 'listening');
  stranger.send('<14>mine?', other.server.port, '127.0.0.1');
  const known = createSocket('udp4').bind(0, '127.0.0.1');
  onTestFinished(() => void known.close());
  await once(known, 'listening');
  known.send('<14>after', other.server.port, '127.0.0.1');
  expect(await other.next()).toMatchObject({ text: 'after' });
  expect([...lines, ...other.lines]).toEqual([]);
});

test('a port that is taken is an error with its code', async () => {
  const { server } = await newServer();
  const again = { address: '127.0.0.1', port: server.port, macAt: () => mac, logged() {}, log: silentLog() };
  await expect(startSyslogServer(again)).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
