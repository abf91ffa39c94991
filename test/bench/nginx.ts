import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openToolbox, type Toolbox } from '#base/debian/toolbox.ts';
import { type ManagedProcess, startProcess } from '#rack/line/managedProcess.ts';

/** Debian's nginx, unpacked and not installed. */
export function fetchNginx(): Promise<Toolbox> {
  const cacheDirectory = path.resolve(import.meta.dirname, '../../.cache/debian');
  return openToolbox(['nginx'], { cacheDirectory });
}

export interface NginxPlace {
  namespace: string;
  /** `address:port` */
  listen: string;
  /** What it serves. */
  root: string;
  /** For its own files. */
  directory: string;
  /** With it it speaks TLS. PEM. */
  tls?: { key: string; cert: string };
}

/** One process with sendfile that serves `root`. */
export async function startNginx(toolbox: Toolbox, place: NginxPlace): Promise<ManagedProcess> {
  const home = path.join(place.directory, 'nginx');
  await mkdir(home, { recursive: true });
  for (const [name, pem] of Object.entries(place.tls ?? {}))
    await writeFile(path.join(home, `${name}.pem`), pem);
  await writeFile(path.join(home, 'nginx.conf'), configuration(place, home));
  const args = ['-p', home, '-e', 'error.log', '-c', 'nginx.conf'];
  const [program, rest] = toolbox.command('usr/sbin/nginx', args);
  const { namespace } = place;
  return startProcess({ namespace, command: [program, ...rest], logFile: path.join(home, 'log') });
}

function configuration({ listen, root, tls }: NginxPlace, home: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `daemon off; master_process off; user root; pid ${home}/nginx.pid;
events { worker_connections 64; }
http {
  access_log off; sendfile on; tcp_nopush on;
  ${temporary.map((name) => `${name}_temp_path ${home}/${name};`).join(' ')}
  ${tls === undefined ? '' : `ssl_certificate ${home}/cert.pem; ssl_certificate_key ${home}/key.pem;`}
  server { listen ${listen}${tls === undefined ? '' : ' ssl'}; root ${root}; }
}
`;
}
