import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { withoutZone } from '#base/ipv6Address.ts';
import type { Log } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import { readSyslog, type SyslogMessage } from './message.ts';
import { Senders } from './senders.ts';

/** Where installers send their log. */
export interface SyslogListen {
  address: string;
  port: number;
  /** A socket bound by the service manager to `address`. */
  fd?: number;
}

export interface SyslogServerOptions extends SyslogListen {
  /** The machine that has an address. */
  macAt(address: string): string | undefined;
  logged(mac: string, message: SyslogMessage): void;
  log: Log;
}

export interface SyslogServer extends Closable {
  readonly port: number;
}

const tellEveryMs = 60_000;

/**
 * Takes syslog over UDP (RFC 5426) of machines whose address is known. Nothing is answered. Lines of others, and those beyond the
 * bounds, are dropped and counted. @throws Error with a system `code` when it cannot bind
 */
export async function startSyslogServer(options: SyslogServerOptions): Promise<SyslogServer> {
  const { address, port, fd, logged, log } = options;
  const senders = new Senders(options.macAt);
  const socket = isIPv6(address) ? createSocket({ type: 'udp6', ipv6Only: true }) : createSocket('udp4');
  socket.on('message', (bytes, from) => {
    const mac = senders.admit(withoutZone(from.address));
    if (mac !== undefined) logged(mac, readSyslog(bytes));
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('listening', resolve).once('error', reject);
    if (fd === undefined) socket.bind(port, address);
    else socket.bind({ fd });
  });
  socket.removeAllListeners('error');
  socket.on('error', (error) => log.error({ err: error }, 'syslog socket failed'));
  const telling = setInterval(() => tellDropped(senders, log), tellEveryMs).unref();
  return {
    port: socket.address().port,
    async close() {
      clearInterval(telling);
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}

function tellDropped(senders: Senders, log: Log): void {
  const dropped = senders.takeDropped();
  if (dropped.unknown + dropped.tooMany > 0)
    log.warn(
      dropped,
      'syslog lines were dropped: of senders that no machine has the address of, or too many',
    );
}
