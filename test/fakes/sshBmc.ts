import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type Algorithms, type Connection, Server, utils } from 'ssh2';
import { bmcCli, type CliOptions } from './bmcCli.ts';

export const user = { username: 'root', password: 'c0nsole-Pw' };

export interface SshBmcOptions extends CliOptions {
  /** How it takes the password. */
  auth?: 'password' | 'keyboard-interactive';
  algorithms?: Algorithms;
  hostKey?: string;
  /** Takes a login, and answers nothing that comes after it. */
  stalls?: boolean;
}

/** The SSH of a BMC, with a command line before the serial port or none. */
export interface SshBmc {
  port: number;
  /** The ways in which a login was tried. */
  tried: string[];
  /** Breaks the connections. */
  breakAll(): void;
  /** The serial port is taken away: the command line comes back. */
  takeAway(): void;
  stop(): Promise<void>;
}

export const newHostKey = () => utils.generateKeyPairSync('ed25519').private;
const usualKey = newHostKey();

export async function startSshBmc(options: SshBmcOptions): Promise<SshBmc> {
  const { auth = 'password', algorithms, hostKey = usualKey } = options;
  const connections = new Set<Connection>();
  const clis = new Set<ReturnType<typeof bmcCli>>();
  const tried: string[] = [];
  const server = new Server({ hostKeys: [hostKey], ...(algorithms && { algorithms }) }, (connection) => {
    connections.add(connection);
    connection.on('error', () => {}).on('close', () => connections.delete(connection));
    connection.on('authentication', (context) => {
      tried.push(context.method);
      if (context.method !== auth) return context.reject([auth]);
      if (context.method === 'password')
        return context.password === user.password ? context.accept() : context.reject([auth]);
      if (context.method !== 'keyboard-interactive') return;
      context.prompt([{ prompt: 'Password: ', echo: false }], ([given]) =>
        given === user.password ? context.accept() : context.reject([auth]),
      );
    });
    connection.on('session', (accept) => {
      const session = accept();
      session.on('pty', (ok) => ok());
      session.on('shell', (ok) => {
        if (options.stalls) return;
        const channel = ok();
        const cli = bmcCli(options, (text) => void channel.write(text));
        clis.add(cli);
        channel.on('data', cli.keys).on('close', cli.hangUp);
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    tried,
    breakAll: () => {
      for (const connection of connections) connection.end();
    },
    takeAway: () => {
      for (const cli of clis) cli.toCli();
    },
    stop: async () => {
      for (const connection of connections) connection.end();
      for (const cli of clis) cli.hangUp();
      server.close();
      await once(server, 'close');
    },
  };
}
