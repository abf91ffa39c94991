import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openToolbox, type Toolbox } from '#base/debian/toolbox.ts';
import { waitForHttp } from '#rack/line/waitForHttp.ts';

const port = 8090;

export interface Nginx {
  url: string;
  root: string;
  stop(): Promise<void>;
}

/** Debian's nginx, unpacked and not installed. */
export function fetchNginx(): Promise<Toolbox> {
  const cacheDirectory = path.resolve(import.meta.dirname, '../../.cache/debian');
  return openToolbox(['nginx'], { cacheDirectory });
}

/** One process with sendfile that serves `root` on loopback. */
export async function startNginx(toolbox: Toolbox, root: string, directory: string): Promise<Nginx> {
  const home = path.join(directory, 'nginx');
  await mkdir(home, { recursive: true });
  await writeFile(path.join(home, 'nginx.conf'), configuration(root, home));
  const [program, args] = toolbox.command('usr/sbin/nginx', [
    '-p',
    home,
    '-e',
    'error.log',
    '-c',
    'nginx.conf',
  ]);
  const child = spawn(program, args, { stdio: 'inherit' });
  const exited = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  await waitForHttp(url, 10_000);
  return {
    url,
    root,
    async stop() {
      child.kill();
      await exited;
    },
  };
}

function configuration(root: string, home: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `daemon off; master_process off; user root; pid ${home}/nginx.pid;
events { worker_connections 64; }
http {
  access_log off; sendfile on; tcp_nopush on;
  ${temporary.map((name) => `${name}_temp_path ${home}/${name};`).join(' ')}
  server { listen 127.0.0.1:${port}; root ${root}; }
}
`;
}
